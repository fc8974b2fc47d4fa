namespace Esb.Content.Formats;

/// <summary>The compiled formats of a configuration. Immutable.</summary>
/// <param name="formats">The formats by name; null for one that could not be compiled, which is reported.</param>
/// <param name="isWhole">True if all formats of the configuration could be read.</param>
public sealed class FormatModels(IReadOnlyDictionary<string, IMessageFormat?> formats, bool isWhole)
{
    /// <summary>All names.</summary>
    public IEnumerable<string> Names => formats.Keys;

    /// <summary>The formats that were compiled.</summary>
    public IEnumerable<IMessageFormat> All => formats.Values.OfType<IMessageFormat>();

    /// <summary>The format with this name; null if it does not exist or could not be compiled.</summary>
    public IMessageFormat? Find(string name) => formats.GetValueOrDefault(name);

    /// <summary>True if a format of this name exists, or may have been among those that could not be read.</summary>
    public bool Knows(string name) => !isWhole || formats.ContainsKey(name);
}
