using Esb.Configuration.Compiling;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Processes;

namespace Esb.Host.Plugins;

/// <summary>Adds the registrations of one plug-in, unless they conflict with existing ones so that one of the two could not be
/// found.</summary>
internal sealed class PluginRegistrations(Plugin plugin, ConfigErrors errors)
{
    public void AddTo(IServiceCollection services)
    {
        var (own, known) = (new ServiceCollection(), errors.All.Count);
        try
        {
            plugin.Entry.Register(own);
        }
        catch (Exception ex) // any exception: foreign code
        {
            errors.Add(PluginLoader.Describe(plugin.File, "registered", ex));
            return;
        }

        RefuseTwins<SettingsKind>(services, own, kind => (kind.Base, kind.Kind), kind => $"{SortOf(kind)} '{kind.Kind}'");
        RefuseTwins<SettingsKind>(
            services,
            own,
            kind => (kind.Base, (object?)kind.Settings ?? kind),
            kind => $"settings {kind.Settings?.Name} for the {SortOf(kind)} '{kind.Kind}'"
        );
        RefuseTwins<ConfigSection>(services, own, section => section.Name, section => $"section '{section.Name}'");
        RefuseTwins<CompileService>(
            services,
            own,
            service => service.IsModel ? service.Descriptor.ServiceType : service,
            service => $"model {service.Descriptor.ServiceType.Name}"
        );
        if (errors.All.Count > known)
            return;
        foreach (var service in own)
            services.Add(service);
        Describe(services);
    }

    private void RefuseTwins<TRegistered>(
        IServiceCollection services,
        IServiceCollection own,
        Func<TRegistered, object> key,
        Func<TRegistered, string> describe
    )
    {
        var known = Instances<TRegistered>(services).Select(key).ToHashSet();
        foreach (var twin in Instances<TRegistered>(own).Where(registered => !known.Add(key(registered))))
            errors.Add("ESB-PLUGIN-KIND", plugin.File, $"registers the {describe(twin)}, which is registered already", origin: null);
    }

    // Errors that would otherwise appear with the first configuration that uses the plug-in.
    private void Describe(IServiceCollection services)
    {
        try
        {
            SchemaWriter.Write(SettingsCatalog.From(services));
        }
        catch (Exception ex) when (ex is NotSupportedException or InvalidOperationException or ArgumentException or MissingMemberException)
        {
            errors.Add("ESB-PLUGIN-FAILED", plugin.File, $"has settings that cannot be described: {ex.Message.TrimEnd('.')}", origin: null);
        }
    }

    private static IEnumerable<TRegistered> Instances<TRegistered>(IServiceCollection services) =>
        services.Where(service => !service.IsKeyedService).Select(service => service.ImplementationInstance).OfType<TRegistered>();

    private static string SortOf(SettingsKind kind) =>
        kind.Base == typeof(EndpointConfig) ? "endpoint type"
        : kind.Base == typeof(StepConfig) ? "step"
        : $"kind of {kind.Base.Name}";
}
