using Esb.Configuration.Compiling;
using Esb.Core.Configuration;

namespace Esb.Content.Transforms;

/// <summary>A map as its files were when the configuration was compiled. Immutable.</summary>
/// <param name="Path">The map's own file.</param>
/// <param name="Files">What was compiled.</param>
/// <param name="Map">The compiled map.</param>
/// <param name="Read">Reads the files again, after a change.</param>
/// <param name="Recompile">Compiles the map from changed files, in the same way.</param>
internal sealed record MapModel(
    string Path,
    IMapSource Files,
    IMessageMap Map,
    Func<IMapSource> Read,
    Func<IMapSource, IMessageMap> Recompile
)
{
    /// <summary>Reads and compiles a map.</summary>
    /// <exception cref="MapFileException">It has an error.</exception>
    /// <exception cref="IOException">It cannot be read.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be read.</exception>
    public static MapModel Create<TSource>(string path, Func<string, TSource> read, Func<TSource, IMessageMap> compile)
        where TSource : IMapSource
    {
        var files = read(path);
        return new MapModel(path, files, compile(files), () => read(path), changed => compile((TSource)changed));
    }
}

/// <summary>The maps of a configuration, for steps that are compiled. Immutable.</summary>
public sealed class MapModels : IFileContents
{
    internal MapModels(IReadOnlyDictionary<string, MapModel> all) => All = all;

    /// <inheritdoc/>
    public string ContentHash =>
        Fingerprint.Of(All.OrderBy(map => map.Key, StringComparer.Ordinal).Select(map => $"{map.Key} {map.Value.Files.ContentHash}"));

    /// <inheritdoc/>
    public IEnumerable<string> Paths => All.Values.SelectMany(map => map.Files.Paths);

    internal IReadOnlyDictionary<string, MapModel> All { get; }

    /// <summary>The compiled map with this name; null if there is no such map or it could not be compiled, which has been
    /// reported.</summary>
    public IMessageMap? Find(string name) => All.GetValueOrDefault(name)?.Map;
}
