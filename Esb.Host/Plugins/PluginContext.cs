using System.Reflection;
using System.Runtime.Loader;
using Esb.Configuration;
using Esb.Content;
using Esb.Core;
using Esb.Delivery;

namespace Esb.Host.Plugins;

/// <summary>The load context of one plug-in: its own dependencies are isolated, contracts and framework are shared with the
/// program.</summary>
/// <remarks>Never unloaded: work that a plug-in has started may run as long as the program.</remarks>
internal sealed class PluginContext(string name, string assembly) : AssemblyLoadContext(name)
{
    /// <summary>The assemblies that plug-ins are built against.</summary>
    public static readonly IReadOnlyDictionary<string, Version> Contracts = new[]
    {
        typeof(IBusPart),
        typeof(IEsbPlugin),
        typeof(ContentRegistration),
        typeof(DeliveryRegistration),
    }
        .Select(type => type.Assembly.GetName())
        .ToDictionary(contract => contract.Name!, contract => contract.Version!);

    // Types of these assemblies appear in the contracts: a second copy would be a different type.
    private static readonly HashSet<string> Shared =
    [
        .. Contracts.Keys,
        .. Contracts.Keys.SelectMany(name => Assembly.Load(name).GetReferencedAssemblies()).Select(name => name.Name!),
        .. FrameworkAssemblies(),
    ];

    private readonly AssemblyDependencyResolver _resolver = new(assembly);

    protected override Assembly? Load(AssemblyName assemblyName) =>
        !Shared.Contains(assemblyName.Name!) && _resolver.ResolveAssemblyToPath(assemblyName) is { } path
            ? LoadFromAssemblyPath(path)
            : null;

    protected override nint LoadUnmanagedDll(string unmanagedDllName) =>
        _resolver.ResolveUnmanagedDllToPath(unmanagedDllName) is { } path
            ? LoadUnmanagedDllFromPath(path)
            : base.LoadUnmanagedDll(unmanagedDllName);

    // A self-contained program has the framework beside its own assemblies, where the two cannot be distinguished.
    private static IEnumerable<string> FrameworkAssemblies() =>
        new[] { typeof(object), typeof(WebApplication) }
            .Select(type => Path.GetDirectoryName(type.Assembly.Location)!)
            .Where(folder => folder != Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory))
            .SelectMany(folder => Directory.EnumerateFiles(folder, "*.dll"))
            .Select(file => Path.GetFileNameWithoutExtension(file));
}
