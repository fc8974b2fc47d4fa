using System.Diagnostics;
using System.Runtime.Loader;
using Esb.Core.Configuration;

namespace Esb.Host.Plugins;

/// <summary>The plug-ins of this program, in the order of their names. Loaded once, whatever number of configurations is read.</summary>
internal sealed class PluginCatalog
{
    private PluginCatalog(IReadOnlyList<Plugin> all) => All = all;

    public IReadOnlyList<Plugin> All { get; }

    /// <summary>Loads what is found beside the program and where the variable says.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error: a bus without what its configuration may name would mislead.
    /// </exception>
    public static PluginCatalog Load(IReadOnlyDictionary<string, string> variables)
    {
        var errors = new ConfigErrors();
        return Load(PluginFolders.Find(variables, errors), errors);
    }

    /// <summary>Loads what is found in folders.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public static PluginCatalog Load(IEnumerable<string> folders, ConfigErrors errors)
    {
        var loader = new PluginLoader(errors);
        var found = PluginFolders.FindAssemblies(folders, errors);
        var plugins = found.Select(assembly => loader.Load(assembly.Name, assembly.File)).OfType<Plugin>().ToList();
        return errors.Any ? throw new ConfigurationRefusedException(errors.All) : new PluginCatalog(plugins);
    }

    /// <summary>Adds what the plug-ins bring to what a bus is made of.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public IServiceCollection AddTo(IServiceCollection services)
    {
        var errors = new ConfigErrors();
        foreach (var plugin in All) new PluginRegistrations(plugin, errors).AddTo(services);
        return errors.Any ? throw new ConfigurationRefusedException(errors.All) : services.AddSingleton(this);
    }

    /// <summary>The error of the plug-in whose code was the innermost where something was thrown; null where no plug-in was in
    /// it.</summary>
    public ConfigError? Blame(Exception exception, string moment) => new StackTrace(exception).GetFrames()
        .Select(frame => frame.GetMethod()?.DeclaringType?.Assembly)
        .Select(assembly => assembly is null ? null : AssemblyLoadContext.GetLoadContext(assembly) as PluginContext)
        .Select(context => All.FirstOrDefault(plugin => plugin.Name == context?.Name))
        .FirstOrDefault(plugin => plugin is not null) is { } blamed ? PluginLoader.Describe(blamed.File, moment, exception) : null;
}
