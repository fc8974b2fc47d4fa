using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Content;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Storage;
using Esb.Tests.Fakes;
using Esb.Topics;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Topics;

/// <summary>Topics as a configuration composes them, above a transport that does as the test says.</summary>
public abstract class TopicsFixture
{
    private readonly List<ServiceProvider> _providers = [];

    private protected AuditLog Audit { get; private set; } = null!;

    private protected ScriptedTransport Transport { get; private set; } = null!;

    private protected ManualTime Time { get; private set; } = null!;

    [SetUp]
    public void Start() => (Audit, Transport, Time) = (new AuditLog(), new ScriptedTransport(), new ManualTime());

    [TearDown]
    public async Task CleanUp()
    {
        foreach (var provider in _providers)
            await provider.DisposeAsync();
        _providers.Clear();
    }

    /// <summary>The services of a configuration that can be read.</summary>
    private protected ServiceProvider Compose(string json, bool scripted = true) => Compose(json, scripted, new ConfigErrors());

    private ServiceProvider Compose(string json, bool scripted, ConfigErrors errors)
    {
        var services = new ServiceCollection();
        if (scripted)
            services.AddSingleton<ITopicTransport>(Transport);
        services.AddLogging().AddSingleton<TimeProvider>(Time).AddSingleton<IAuditTrail>(Audit);
        services.AddSingleton<IClaimCheckStore>(new NoClaimCheckStore());
        services.AddSingleton(new SettingsKind(typeof(StoreConfig), "file", typeof(NoStoreConfig), ""));
        services.AddEsbConfiguration().AddEsbContent().AddEsbTopics();
        var provider = Compiled.Build(services, Read(services, json), errors);
        _providers.Add(provider);
        return provider;
    }

    /// <summary>What the checks have against a configuration that can be read.</summary>
    private protected IReadOnlyList<ConfigError> Check(string json)
    {
        var errors = new ConfigErrors();
        Compose(json, scripted: false, errors);
        return errors.All;
    }

    private static EsbConfiguration Read(IServiceCollection services, string json)
    {
        var path = Path.GetTempFileName();
        try
        {
            File.WriteAllText(path, json);
            var errors = new ConfigErrors();
            var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(
                path,
                new Dictionary<string, string>
                {
                    ["URL"] = "amqps://guest:guest@broker.example",
                    ["PASSPHRASE"] = IssuedCertificate.Passphrase,
                },
                errors
            );
            Assert.That(errors.All, Is.Empty);
            return configuration!;
        }
        finally
        {
            File.Delete(path);
        }
    }

    private sealed record NoStoreConfig : StoreConfig;
}
