using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Reading;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Host.Lifecycle;
using Esb.Host.Logging;
using Esb.Host.Plugins;
using Esb.Host.Telemetry;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Esb.Host.Composition;

/// <summary>Reads a configuration and builds the services that it describes.</summary>
internal static class BusServices
{
    // A service with process lifetime must not keep a revision, because that revision could never be replaced.
    private static readonly ServiceProviderOptions Checked = new() { ValidateScopes = true, ValidateOnBuild = true };

    /// <summary>Reads and compiles a configuration; starts nothing and opens no connection.</summary>
    /// <remarks>Parts that could be read are compiled in the same run, so that all errors are reported at once.</remarks>
    /// <param name="path">A file or a folder.</param>
    /// <param name="variables">The environment variables.</param>
    /// <param name="services">What a bus is made of.</param>
    /// <param name="place">The meaning of its relative paths; null for the folder of each file.</param>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public static BusModel Compile(
        string path,
        IReadOnlyDictionary<string, string> variables,
        IServiceCollection services,
        ConfigPlace? place = null
    )
    {
        var errors = new ConfigErrors();
        var draft =
            new ConfigurationReader(SettingsCatalog.From(services)).ReadDraft(path, variables, errors, place)
            ?? throw new ConfigurationRefusedException(errors.All);
        var model = Compile(services, draft, errors);
        return errors.Any ? throw new ConfigurationRefusedException(errors.All) { Revision = model.Revision } : model;
    }

    /// <summary>Reads and compiles a configuration, and creates the services that run it, without starting them.</summary>
    /// <inheritdoc cref="Compile(string, IReadOnlyDictionary{string, string}, IServiceCollection, ConfigPlace)"/>
    public static ServiceProvider Build(string path, IReadOnlyDictionary<string, string> variables, IServiceCollection services) =>
        Build(ConfigurationSource.Of(path, variables, services));

    /// <summary>Compiles what a host starts with, and creates the services that run it, without starting them.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public static ServiceProvider Build(ConfigurationSource source)
    {
        var model = source.Start is { } version ? source.Compile(version.Files) : source.Compile();
        return Compose(model.AddTo(source.Services()).AddSingleton(source), model).BuildServiceProvider(Checked);
    }

    /// <summary>Finds the store of a configuration, without validating the other parts.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public static StoreAccess FindStore(string path, IReadOnlyDictionary<string, string> variables, IServiceCollection services)
    {
        var errors = new ConfigErrors();
        var read =
            new ConfigurationReader(SettingsCatalog.From(services)).Read(path, variables, errors)
            ?? throw new ConfigurationRefusedException(errors.All);
        return new StoreAccess(
            read.Name,
            read.Section<StoreConfig>("store"),
            read.FindSection<AuditEvidenceConfig>("audit") ?? new AuditEvidenceConfig(),
            services
        );
    }

    // The bus's own code does not throw because of a configuration; an exception of a plug-in is reported as its error and does not end the
    // program.
    private static BusModel Compile(IServiceCollection services, EsbConfiguration draft, ConfigErrors errors)
    {
        var plugins = services.Select(service => service.ImplementationInstance).OfType<PluginCatalog>().FirstOrDefault();
        ConfigError? blamed = null;
        try
        {
            return CompilePhase.Compile(services, draft, errors, TimeProvider.System);
        }
        catch (Exception ex) when ((blamed = plugins?.Blame(ex, "compiled the configuration")) is not null)
        {
            errors.Add(blamed);
            throw new ConfigurationRefusedException(errors.All) { Revision = BusModel.NameOf(draft, []) };
        }
    }

    private static IServiceCollection Compose(IServiceCollection services, BusModel model)
    {
        services.TryAddSingleton(TimeProvider.System); // tests bring a clock of their own
        return services
            .AddEsbLogging(model.Get<TelemetryConfig>(), model.Get<IReadOnlyDictionary<string, EndpointConfig>>().Keys)
            .AddSingleton<HostState>()
            .AddSingleton<BusLifecycle>()
            .AddSingleton<StartupReport>();
    }
}
