namespace Esb.Content.Lookups;

/// <summary>A look-up in a file. Thread-safe; when the file changes, searches that begin later find the new entries.</summary>
public sealed class FileLookup : ILookup
{
    private volatile LookupContent _content;

    internal FileLookup(string name, string path, LookupContent content, Func<LookupContent> read) =>
        (Name, Path, _content, Read) = (name, path, content, read);

    /// <inheritdoc/>
    public string Name { get; }

    internal string Path { get; }

    /// <summary>Reads the file again, in the same way.</summary>
    internal Func<LookupContent> Read { get; }

    internal LookupContent Content
    {
        get => _content;
        set => _content = value;
    }

    /// <inheritdoc/>
    public IReadOnlyDictionary<string, string>? Find(string key) => _content.Table.Entries.GetValueOrDefault(key);

    /// <inheritdoc/>
    public string? Find(string key, string? column)
    {
        var table = _content.Table;
        return (column ?? table.OnlyColumn) is { } named ? table.Entries.GetValueOrDefault(key)?.GetValueOrDefault(named) : null;
    }
}

/// <summary>The content of a look-up's file. Immutable.</summary>
/// <param name="Table">The entries.</param>
/// <param name="ContentHash">The same for the same bytes.</param>
/// <param name="Stamp">What the file looked like before it was read.</param>
internal sealed record LookupContent(LookupTable Table, string ContentHash, string Stamp);
