namespace Esb.Content.Lookups;

/// <summary>A table in which entries are found by a key. Thread-safe.</summary>
public interface ILookup
{
    /// <summary>Its name in the configuration.</summary>
    string Name { get; }

    /// <summary>The entry with a key, as the texts of its columns; null if there is none.</summary>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-LOOKUP-DATABASE</c>: the entry is in a database, and was not read
    /// beforehand.</exception>
    IReadOnlyDictionary<string, string>? Find(string key);

    /// <summary>A column of the entry with a key; null if there is no such entry or column.</summary>
    /// <param name="key">The key.</param>
    /// <param name="column">The column; null for the only one besides that of the keys.</param>
    string? Find(string key, string? column);
}
