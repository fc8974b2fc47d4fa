using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Host.Composition;

/// <summary>Compiles a configuration into the models that a bus runs on. The services of a running bus are absent, so nothing can be
/// started or opened.</summary>
internal static class CompilePhase
{
    /// <summary>Compiles all registered models and collects every error.</summary>
    /// <param name="services">The registrations of a bus; only those for compiling are used.</param>
    /// <param name="configuration">The configuration; unreadable parts have been reported.</param>
    /// <param name="errors">Receives every error and warning. After an error the result must not be started.</param>
    /// <param name="time">The clock for the validity of certificates.</param>
    public static BusModel Compile(IServiceCollection services, EsbConfiguration configuration, ConfigErrors errors, TimeProvider time)
    {
        var registered = services.Select(service => service.ImplementationInstance).ToList();
        var compiling = new ServiceCollection()
            .AddSingleton(configuration)
            .AddSingleton(configuration.Unread)
            .AddSingleton(errors)
            .AddSingleton(time);
        foreach (var kind in registered.OfType<SettingsKind>())
            compiling.AddSingleton(kind);
        var models = new List<Type>();
        foreach (var service in registered.OfType<CompileService>())
        {
            compiling.Add(service.Descriptor);
            if (service.IsModel)
                models.Add(service.Descriptor.ServiceType);
        }

        using var provider = compiling.BuildServiceProvider();
        var compiled = models.ToDictionary(model => model, provider.GetRequiredService);
        foreach (var rule in provider.GetServices<IConfigurationRule>())
            rule.Check(errors);
        return new BusModel(configuration, compiled, errors.Warnings);
    }
}
