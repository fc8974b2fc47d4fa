using Esb.Configuration.Compiling;
using Esb.Core.Configuration;

namespace Esb.Content.Lookups;

/// <summary>The look-ups of a configuration. The set of them never changes; each follows its file while the bus runs.</summary>
public sealed class LookupModels : IFileContents
{
    private readonly bool _isWhole;

    internal LookupModels(IReadOnlyDictionary<string, ILookup> all, bool isWhole) => (All, _isWhole) = (all, isWhole);

    /// <inheritdoc/>
    public string ContentHash =>
        Fingerprint.Of(Files.Select(lookup => $"{lookup.Name} {lookup.Content.ContentHash}").Order(StringComparer.Ordinal));

    /// <inheritdoc/>
    public IEnumerable<string> Paths => Files.Select(lookup => lookup.Path);

    internal IReadOnlyDictionary<string, ILookup> All { get; }

    internal IEnumerable<FileLookup> Files => All.Values.OfType<FileLookup>();

    /// <summary>Finds an entry as maps do, by the look-up's name and the key; null if there are no look-ups.</summary>
    public Func<string, object?, object?>? ForMaps => MapLookups.Of(this);

    /// <summary>The look-up of this name; null if there is none, or if it could not be compiled.</summary>
    public ILookup? Find(string name) => All.GetValueOrDefault(name);

    /// <summary>True if a look-up of this name exists, or may have been among those that could not be compiled.</summary>
    public bool Knows(string name) => !_isWhole || All.ContainsKey(name);
}
