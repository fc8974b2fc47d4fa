using System.Diagnostics;
using System.Runtime.Loader;
using Esb.Core.Configuration;

namespace Esb.Host.Plugins;

/// <summary>The plug-ins of this program, ordered by name. Loaded once for all configurations.</summary>
internal sealed class PluginCatalog
{
    private PluginCatalog(IReadOnlyList<Plugin> all) => All = all;

    public IReadOnlyList<Plugin> All { get; }

    /// <summary>Loads the plug-ins beside the program and in the folder that the variable names.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error: a bus without a plug-in that its configuration may name would
    /// mislead.</exception>
    public static PluginCatalog Load(IReadOnlyDictionary<string, string> variables)
    {
        var errors = new ConfigErrors();
        return Load(PluginFolders.Find(variables, errors), errors);
    }

    /// <summary>Loads the plug-ins of folders.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public static PluginCatalog Load(IEnumerable<string> folders, ConfigErrors errors)
    {
        var loader = new PluginLoader(errors);
        var found = PluginFolders.FindAssemblies(folders, errors);
        var plugins = found.Select(assembly => loader.Load(assembly.Name, assembly.File)).OfType<Plugin>().ToList();
        return errors.Any ? throw new ConfigurationRefusedException(errors.All) : new PluginCatalog(plugins);
    }

    /// <summary>Adds the registrations of the plug-ins to those of a bus.</summary>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    public IServiceCollection AddTo(IServiceCollection services)
    {
        var errors = new ConfigErrors();
        foreach (var plugin in All)
            new PluginRegistrations(plugin, errors).AddTo(services);
        return errors.Any ? throw new ConfigurationRefusedException(errors.All) : services.AddSingleton(this);
    }

    /// <summary>The error of the plug-in whose code is innermost in the stack of an exception; null if no plug-in is involved.</summary>
    public ConfigError? Blame(Exception exception, string moment) =>
        new StackTrace(exception)
            .GetFrames()
            .Select(frame => frame.GetMethod()?.DeclaringType?.Assembly)
            .Select(assembly => assembly is null ? null : AssemblyLoadContext.GetLoadContext(assembly) as PluginContext)
            .Select(context => All.FirstOrDefault(plugin => plugin.Name == context?.Name))
            .FirstOrDefault(plugin => plugin is not null)
            is { } blamed
            ? PluginLoader.Describe(blamed.File, moment, exception)
            : null;
}
