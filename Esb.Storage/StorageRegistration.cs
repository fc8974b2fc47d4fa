using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Planning;
using Esb.Core.Storage;
using Esb.Storage.DeadLetters;
using Esb.Storage.Evidence;
using Esb.Storage.Files;
using Esb.Storage.Postgres;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Storage;

/// <summary>Stores: files, and PostgreSQL.</summary>
public static class StorageRegistration
{
    /// <summary>Registers the kinds of store, and the one that the configuration names.</summary>
    public static IServiceCollection AddEsbStorage(this IServiceCollection services) => services
        .AddSingleton(new SettingsKind(typeof(StoreConfig), "file", typeof(FileStoreConfig), "Files in a folder; needs no server."))
        .AddSingleton(new SettingsKind(typeof(StoreConfig), "postgres", typeof(PostgresStoreConfig), "PostgreSQL 15 or later."))
        .AddSingleton<IConfigurationCheck, PostgresStoreCheck>()
        .AddSingleton<IConfigurationCheck, EvidenceCheck>()
        .AddSingleton<IChangePlanner, PostgresPlanner>()
        .AddSingleton(Create)
        .AddSingleton<IBusPart>(provider => provider.GetRequiredService<IStore>())
        .AddSingleton<IHealthCheck>(provider => provider.GetRequiredService<IStore>())
        .AddSingleton(provider => provider.GetRequiredService<IStore>().Audit)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().Retention)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().Eraser)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().DeadLetters)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().LetterRetention)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().Parking)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().CrashMarks)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().Attempts)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().ReplayJobs)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().IdempotencyKeys)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().Leases)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().ClaimChecks)
        .AddSingleton(provider => provider.GetRequiredService<IStore>().Activities)
        .AddSingleton<IBusPart>(provider => ActivatorUtilities.CreateInstance<LetterRetention>(provider, ConfigOf(provider))); // after the store, so that it stops before

    private static IStore Create(IServiceProvider provider)
    {
        var store = ConfigOf(provider);
        return store switch
        {
            FileStoreConfig files => new FileStore(files, provider.GetRequiredService<TimeProvider>(), provider.GetRequiredService<ILogger<FileStore>>()),
            PostgresStoreConfig postgres => new PostgresStore(postgres, EvidenceOf(provider), provider.GetRequiredService<TimeProvider>(), provider.GetRequiredService<ILogger<PostgresStore>>()),
            _ => throw new InvalidOperationException($"{store.GetType().Name} is no store of ours."),
        };
    }

    private static AuditEvidenceConfig EvidenceOf(IServiceProvider provider) => AuditEvidenceConfig.Of(provider.GetRequiredService<EsbConfiguration>());

    private static StoreConfig ConfigOf(IServiceProvider provider) => provider.GetRequiredService<EsbConfiguration>().Section<StoreConfig>("store");
}
