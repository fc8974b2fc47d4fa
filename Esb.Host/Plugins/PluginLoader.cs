using System.Reflection;
using Esb.Configuration;
using Esb.Core.Configuration;

namespace Esb.Host.Plugins;

/// <summary>Loads the assembly of a plug-in and creates its entry class. Every failure is reported as an error with its location.</summary>
internal sealed class PluginLoader(ConfigErrors errors)
{
    /// <summary>Loads the plug-in; null after an error.</summary>
    public Plugin? Load(string name, string file)
    {
        try
        {
            var assembly = new PluginContext(name, file).LoadFromAssemblyPath(file);
            if (!IsBuiltForUs(assembly, file) || FindEntry(assembly, file) is not { } entry)
                return null;
            return new Plugin(name, VersionOf(assembly), file, (IEsbPlugin)Activator.CreateInstance(entry)!);
        }
        catch (Exception ex) // any exception: foreign files and code
        {
            errors.Add(Describe(file, "was loaded", ex));
            return null;
        }
    }

    /// <summary>Converts an exception of a plug-in into a configuration error.</summary>
    /// <param name="file">The assembly of the plug-in.</param>
    /// <param name="moment">The current operation, phrased to follow "while it".</param>
    /// <param name="exception">The exception.</param>
    public static ConfigError Describe(string file, string moment, Exception exception)
    {
        var isOuter = exception is TargetInvocationException or TypeInitializationException;
        var thrown = isOuter && exception.InnerException is { } inner ? inner : exception;
        var text = thrown.Message.TrimStart().Split('\n', 2)[0].Trim().TrimEnd('.');
        return
            thrown is BadImageFormatException or FileLoadException or FileNotFoundException or TypeLoadException or MissingMemberException
            ? new ConfigError("ESB-PLUGIN-LOAD", file, null, $"cannot be loaded, as .NET says: {text}")
            : new ConfigError("ESB-PLUGIN-FAILED", file, null, $"failed while it {moment}, with {thrown.GetType().Name}: {text}");
    }

    private static string VersionOf(Assembly assembly) =>
        assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0]
        ?? $"{assembly.GetName().Version}";

    // Semantic versioning: before 1.0 each minor version may break; from 1.0 on, a program supports the earlier versions of its major
    // version.
    private bool IsBuiltForUs(Assembly assembly, string file)
    {
        var known = errors.All.Count;
        foreach (var built in assembly.GetReferencedAssemblies())
        {
            if (!PluginContext.Contracts.TryGetValue(built.Name!, out var here) || built.Version is not { } wanted)
                continue;
            var fits = wanted.Major == here.Major && (here.Major == 0 ? wanted.Minor == here.Minor : wanted.Minor <= here.Minor);
            if (fits)
                continue;
            var versions = $"is built for {built.Name} {wanted.ToString(3)}, and this is {here.ToString(3)}";
            errors.Add("ESB-PLUGIN-VERSION", file, $"{versions}: expected a build for this version", origin: null);
        }

        return errors.All.Count == known;
    }

    private Type? FindEntry(Assembly assembly, string file)
    {
        var entries = assembly
            .GetExportedTypes()
            .Where(type => type is { IsClass: true, IsAbstract: false } && type.IsAssignableTo(typeof(IEsbPlugin)))
            .ToList();
        if (entries is [var entry])
        {
            if (entry.GetConstructor(Type.EmptyTypes) is not null)
                return entry;
            errors.Add("ESB-PLUGIN-CLASS", file, $"{entry.FullName} has no public constructor without parameters", origin: null);
            return null;
        }

        var found = entries.Count == 0 ? "none" : string.Join(" and ", entries.Select(type => type.FullName));
        errors.Add(
            "ESB-PLUGIN-CLASS",
            file,
            $"expected one public class that implements {nameof(IEsbPlugin)}, found {found}",
            origin: null
        );
        return null;
    }
}
