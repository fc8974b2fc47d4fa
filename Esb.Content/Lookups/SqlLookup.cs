using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Content.Lookups;

/// <summary>A look-up in a database. Entries are read before a step or a map that needs them runs, and kept for a time.
/// Thread-safe.</summary>
/// <param name="config">The look-up.</param>
/// <param name="time">The clock.</param>
public sealed class SqlLookup(LookupConfig config, TimeProvider time) : ILookup
{
    private const int MaxEntries = 10_000;

    private readonly ConcurrentDictionary<string, Entry> _entries = new();

    /// <inheritdoc/>
    public string Name => config.Name;

    /// <inheritdoc/>
    public IReadOnlyDictionary<string, string>? Find(string key) =>
        _entries.TryGetValue(key, out var entry)
            ? entry.Columns
            : throw new EsbException(
                "ESB-LOOKUP-DATABASE",
                $"The look-up '{Name}' is in a database, which only steps and the maps of a running bus can ask.",
                FaultKind.Internal
            );

    /// <inheritdoc/>
    public string? Find(string key, string? column)
    {
        var entry = Find(key);
        return column is not null ? entry?.GetValueOrDefault(column) : entry?.Values.FirstOrDefault();
    }

    /// <summary>Finds an entry that was read a short time ago; false if it has to be read.</summary>
    /// <param name="key">The key.</param>
    /// <param name="columns">The entry; null if the database has no row with the key.</param>
    public bool TryFind(string key, out IReadOnlyDictionary<string, string>? columns)
    {
        var isKept = _entries.TryGetValue(key, out var known) && time.GetElapsedTime(known.ReadAt) < config.Cache;
        columns = isKept ? known!.Columns : null;
        return isKept;
    }

    /// <summary>The entry with a key, null if the database has no such row; read from the database unless it is cached.</summary>
    /// <param name="key">The key.</param>
    /// <param name="queries">Asks the database.</param>
    /// <param name="cancellationToken">Cancels the query.</param>
    /// <exception cref="EsbException"><c>ESB-SQL-…</c>.</exception>
    public async ValueTask<IReadOnlyDictionary<string, string>?> LoadAsync(
        string key,
        ILookupQueries queries,
        CancellationToken cancellationToken
    )
    {
        if (TryFind(key, out var known))
            return known;
        var columns = await queries.FindAsync(Name, config.Connection!, config.Query!, key, config.Timeout, cancellationToken);
        if (_entries.Count >= MaxEntries)
            DropOldest();
        _entries[key] = new Entry(columns, time.GetTimestamp());
        return columns;
    }

    private void DropOldest()
    {
        foreach (var (key, _) in _entries.OrderBy(entry => entry.Value.ReadAt).Take(MaxEntries / 4))
            _entries.TryRemove(key, out _);
    }

    private sealed record Entry(IReadOnlyDictionary<string, string>? Columns, long ReadAt);
}
