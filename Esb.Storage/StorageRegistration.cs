using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Marks;
using Esb.Core.Planning;
using Esb.Core.Storage;
using Esb.Storage.DeadLetters;
using Esb.Storage.Encryption;
using Esb.Storage.Files;
using Esb.Storage.Postgres;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Storage;

/// <summary>Stores: files, and PostgreSQL.</summary>
public static class StorageRegistration
{
    /// <summary>Registers the kinds of store, and the one that the configuration names.</summary>
    public static IServiceCollection AddEsbStorage(this IServiceCollection services) =>
        services
            .AddStore<FileStoreConfig>(
                "file",
                "Files in a folder; needs no server.",
                CreateFiles,
                (config, reading, logger) => StoreReader.Open(config, logger, reading.Configuration, reading.TakesEarlier)
            )
            .AddStore<PostgresStoreConfig>("postgres", "PostgreSQL 15 or later.", CreatePostgres, StoreReader.Open)
            .AddRule<PostgresStoreRule>()
            .AddRule<EncryptionKeysRule>()
            .AddScoped<IChangePlanner, PostgresPlanner>()
            .AddSingleton(Create)
            .AddSingleton<IMarkSource, DiskMarks>()
            .AddSingleton<IMarkSource, PostgresMarks>()
            .AddSingleton<IHostRunStore>(provider => new HostRunFile(provider.GetRequiredService<StoreConfig>().Folder))
            .AddSingleton<ITuningCopy>(CreateCopy)
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<Store>())
            .AddSingleton<IHealthCheck>(provider => provider.GetRequiredService<Store>())
            .AddSingleton(provider => provider.GetRequiredService<Store>().Audit)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Retention)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Eraser)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Evidence)
            .AddSingleton(provider => provider.GetRequiredService<Store>().DeadLetters)
            .AddSingleton(provider => provider.GetRequiredService<Store>().LetterRetention)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Parking)
            .AddSingleton(provider => provider.GetRequiredService<Store>().CrashMarks)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Attempts)
            .AddSingleton(provider => provider.GetRequiredService<Store>().EndpointMarks)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Tuning)
            .AddSingleton(provider => provider.GetRequiredService<Store>().ConfigurationVersions)
            .AddSingleton(provider => provider.GetRequiredService<Store>().ReplayJobs)
            .AddSingleton(provider => provider.GetRequiredService<Store>().IdempotencyKeys)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Leases)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Workflows)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Timers)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Outbox)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Held)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Itineraries)
            .AddSingleton(provider => provider.GetRequiredService<Store>().ClaimChecks)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Activities)
            .AddSingleton(provider => provider.GetRequiredService<Store>().FarmKeys)
            .AddSingleton(provider => provider.GetRequiredService<Store>().Encryption)
            .AddSingleton<IBodyCipher>(provider => BodyCipher.Of(provider.GetRequiredService<StoreConfig>()))
            .AddSingleton<IBusPart, LetterRetention>();

    private static TuningCopy CreateCopy(IServiceProvider provider)
    {
        var config = provider.GetRequiredService<StoreConfig>();
        return new TuningCopy(config.Folder, isNeeded: config.IsShared);
    }

    private static Store Create(IServiceProvider provider)
    {
        var config = provider.GetRequiredService<StoreConfig>();
        return StoreFactory.Of(config, provider.GetServices<StoreFactory>()).Create(provider, config);
    }

    private static FileStore CreateFiles(IServiceProvider provider, FileStoreConfig config) =>
        new(
            config,
            provider.GetRequiredService<TimeProvider>(),
            provider.GetRequiredService<ILogger<FileStore>>(),
            provider.GetRequiredService<BusIdentity>().Name
        );

    private static PostgresStore CreatePostgres(IServiceProvider provider, PostgresStoreConfig config) =>
        new(
            config,
            provider.GetService<AuditEvidenceConfig>() ?? new AuditEvidenceConfig(),
            provider.GetRequiredService<TimeProvider>(),
            provider.GetRequiredService<ILogger<PostgresStore>>(),
            provider.GetRequiredService<BusIdentity>().Name
        );
}
