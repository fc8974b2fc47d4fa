using System.Reflection;
using System.Runtime.Loader;
using Esb.Configuration;
using Esb.Content;
using Esb.Core;
using Esb.Delivery;

namespace Esb.Host.Plugins;

/// <summary>Where the assemblies of one plug-in live: its own dependencies apart from everybody's, contracts and framework shared with the
/// program.</summary>
/// <remarks>Never unloaded: what a plug-in has started may run as long as the program.</remarks>
internal sealed class PluginContext(string name, string assembly) : AssemblyLoadContext(name)
{
    /// <summary>What plug-ins are built on.</summary>
    public static readonly IReadOnlyDictionary<string, Version> Contracts =
        new[] { typeof(IBusPart), typeof(IEsbPlugin), typeof(ContentRegistration), typeof(DeliveryRegistration) }
            .Select(type => type.Assembly.GetName())
            .ToDictionary(contract => contract.Name!, contract => contract.Version!);

    // The contracts speak of types of these: two copies of one type would be two types.
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

    // A program that carries its framework along has it beside its own assemblies, where nothing tells them apart.
    private static IEnumerable<string> FrameworkAssemblies() =>
        new[] { typeof(object), typeof(WebApplication) }
            .Select(type => Path.GetDirectoryName(type.Assembly.Location)!)
            .Where(folder => folder != Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory))
            .SelectMany(folder => Directory.EnumerateFiles(folder, "*.dll"))
            .Select(file => Path.GetFileNameWithoutExtension(file));
}
