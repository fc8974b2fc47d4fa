using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Host.Lifecycle;
using Esb.Host.Logging;

namespace Esb.Host.Composition;

/// <summary>Reads a configuration and builds what it describes.</summary>
internal static class BusServices
{
    /// <summary>Reads and checks everything; nothing is started and no connection opened.</summary>
    /// <remarks>What could be read is checked in the same go, so that all errors are known at once. The warnings are in the <see cref="ConfigErrors"/> of the result.</remarks>
    /// <param name="path">A file or a folder.</param>
    /// <param name="variables">The environment variables.</param>
    /// <param name="services">What a bus is made of.</param>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public static async Task<ServiceProvider> BuildAsync(string path, IReadOnlyDictionary<string, string> variables, IServiceCollection services)
    {
        var errors = new ConfigErrors();
        var draft = new ConfigurationReader(SettingsCatalog.From(services)).ReadDraft(path, variables, errors) ?? throw new ConfigurationRefusedException(errors.All);
        var provider = Compose(services, draft, errors).BuildServiceProvider();
        foreach (var check in provider.GetServices<IConfigurationCheck>()) check.Check(errors);
        provider.GetService<IExpressionCompiler>()?.Complete(); // a bus without content compiles nothing
        if (!errors.Any) return provider;

        await provider.DisposeAsync();
        throw new ConfigurationRefusedException(errors.All);
    }

    /// <summary>Reads a configuration without asking its parts whether they can do what it says.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public static EsbConfiguration Read(string path, IReadOnlyDictionary<string, string> variables, IServiceCollection services)
    {
        var errors = new ConfigErrors();
        return new ConfigurationReader(SettingsCatalog.From(services)).Read(path, variables, errors) ?? throw new ConfigurationRefusedException(errors.All);
    }

    private static IServiceCollection Compose(IServiceCollection services, EsbConfiguration configuration, ConfigErrors errors) => services
        .AddSingleton(configuration)
        .AddSingleton(errors)
        .AddSingleton(TimeProvider.System)
        .AddEsbLogging(configuration)
        .AddSingleton<HostState>()
        .AddSingleton<BusLifecycle>()
        .AddSingleton<StartupReport>();
}
