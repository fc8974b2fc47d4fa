using System.Reflection;
using Esb.Configuration;
using Esb.Core.Configuration;

namespace Esb.Host.Plugins;

/// <summary>Loads the assembly of a plug-in and makes its class. Whatever is wrong with it is an error with its place.</summary>
internal sealed class PluginLoader(ConfigErrors errors)
{
    /// <summary>The plug-in; null after an error.</summary>
    public Plugin? Load(string name, string file)
    {
        try
        {
            var assembly = new PluginContext(name, file).LoadFromAssemblyPath(file);
            if (!IsBuiltForUs(assembly, file) || FindEntry(assembly, file) is not { } entry) return null;
            return new Plugin(name, VersionOf(assembly), file, (IEsbPlugin)Activator.CreateInstance(entry)!);
        }
        catch (Exception ex) // of files and code of others: anything
        {
            errors.Add(Describe(file, "was loaded", ex));
            return null;
        }
    }

    /// <summary>What a plug-in threw, as an error about it.</summary>
    /// <param name="file">Its assembly.</param>
    /// <param name="moment">What was going on, as the end of "while it".</param>
    /// <param name="exception">What it threw.</param>
    public static ConfigError Describe(string file, string moment, Exception exception)
    {
        var isOuter = exception is TargetInvocationException or TypeInitializationException;
        var thrown = isOuter && exception.InnerException is { } inner ? inner : exception;
        var text = thrown.Message.TrimStart().Split('\n', 2)[0].Trim().TrimEnd('.');
        return thrown is BadImageFormatException or FileLoadException or FileNotFoundException or TypeLoadException or MissingMemberException
            ? new ConfigError("ESB-PLUGIN-LOAD", file, null, $"cannot be loaded, as .NET says: {text}")
            : new ConfigError("ESB-PLUGIN-FAILED", file, null, $"failed while it {moment}, with {thrown.GetType().Name}: {text}");
    }

    private static string VersionOf(Assembly assembly) =>
        assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0]
        ?? $"{assembly.GetName().Version}";

    // As semantic versions promise: before 1.0 each minor version may break; then a program can do what earlier ones of its major version
    // could.
    private bool IsBuiltForUs(Assembly assembly, string file)
    {
        var known = errors.All.Count;
        foreach (var built in assembly.GetReferencedAssemblies())
        {
            if (!PluginContext.Contracts.TryGetValue(built.Name!, out var here) || built.Version is not { } wanted) continue;
            var fits = wanted.Major == here.Major && (here.Major == 0 ? wanted.Minor == here.Minor : wanted.Minor <= here.Minor);
            if (fits) continue;
            var versions = $"is built for {built.Name} {wanted.ToString(3)}, and this is {here.ToString(3)}";
            errors.Add("ESB-PLUGIN-VERSION", file, $"{versions}: expected a build for this version", origin: null);
        }

        return errors.All.Count == known;
    }

    private Type? FindEntry(Assembly assembly, string file)
    {
        var entries = assembly.GetExportedTypes()
            .Where(type => type is { IsClass: true, IsAbstract: false } && type.IsAssignableTo(typeof(IEsbPlugin)))
            .ToList();
        if (entries is [var entry])
        {
            if (entry.GetConstructor(Type.EmptyTypes) is not null) return entry;
            errors.Add("ESB-PLUGIN-CLASS", file, $"{entry.FullName} has no public constructor without parameters", origin: null);
            return null;
        }

        var found = entries.Count == 0 ? "none" : string.Join(" and ", entries.Select(type => type.FullName));
        errors.Add("ESB-PLUGIN-CLASS", file, $"expected one public class that implements {nameof(IEsbPlugin)}, found {found}", origin: null);
        return null;
    }
}
