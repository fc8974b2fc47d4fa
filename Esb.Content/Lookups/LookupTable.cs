using System.Collections.Frozen;

namespace Esb.Content.Lookups;

/// <summary>The entries of a look-up by their keys. Immutable.</summary>
/// <param name="Columns">The columns, in their order.</param>
/// <param name="Key">The column of the keys.</param>
/// <param name="Entries">The entries; each has the texts of its columns.</param>
internal sealed record LookupTable(
    IReadOnlyList<string> Columns,
    string Key,
    FrozenDictionary<string, IReadOnlyDictionary<string, string>> Entries
)
{
    /// <summary>The only column besides that of the keys; null if there are several, or none.</summary>
    public string? OnlyColumn { get; } = Columns.Where(column => column != Key).ToList() is [var only] ? only : null;
}
