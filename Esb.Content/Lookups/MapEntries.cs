using Esb.Content.Transforms;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Storage;

namespace Esb.Content.Lookups;

/// <summary>The entries of databases that one run of a map needs. Not thread-safe.</summary>
/// <remarks>
/// Maps cannot wait, and only the map knows its keys. So it runs, and names the keys of entries that are not in memory; these are read,
/// and it runs again, until it has missed nothing. Only the last run counts: the results, failures and log lines of those before are
/// dropped.
/// </remarks>
internal sealed class MapEntries(LookupModels lookups, ILookupQueries queries)
{
    private const int MaxEntries = 10_000;
    private const int MaxRuns = 50;

    private static readonly IReadOnlyDictionary<string, string> Nothing = new Dictionary<string, string>();

    private readonly Dictionary<(SqlLookup Lookup, string Key), IReadOnlyDictionary<string, string>?> _known = [];
    private readonly HashSet<(SqlLookup Lookup, string Key)> _missing = [];
    private readonly Dictionary<SqlLookup, IReadOnlyDictionary<string, string>> _examples = [];

    public async ValueTask<T> RunAsync<T>(MapCall call, Func<MapCall, T> run, CancellationToken cancellationToken)
    {
        for (var count = 0; count < MaxRuns; count++)
        {
            _missing.Clear();
            if (TryRun(call, run, out var made))
                return made;
            foreach (var (lookup, key) in _missing)
                Keep(lookup, key, await lookup.LoadAsync(key, queries, cancellationToken));
        }

        throw new EsbException(
            "ESB-LOOKUP-LIMIT",
            $"The map needs entries of databases {MaxRuns} times one after another.",
            FaultKind.Internal
        );
    }

    private bool TryRun<T>(MapCall call, Func<MapCall, T> run, out T made)
    {
        var lines = new List<string>();
        try
        {
            made = run(call with { Lookup = Find, Log = lines.Add });
        }
        catch (EsbException) when (_missing.Count > 0)
        {
            made = default!; // it failed without its entries, and runs again with them
        }
        finally
        {
            if (_missing.Count == 0)
                lines.ForEach(line => call.Log?.Invoke(line));
        }

        return _missing.Count == 0;
    }

    private object? Find(string name, object? key)
    {
        if (MessageValues.AsText(key) is not { } text)
            return null;
        if (MapLookups.Named(lookups, name) is not SqlLookup lookup)
            return lookups.Find(name)!.Find(text);
        if (_known.TryGetValue((lookup, text), out var known))
            return known;
        if (lookup.TryFind(text, out var kept))
            return Keep(lookup, text, kept);
        if (_known.Count + _missing.Count >= MaxEntries)
            throw new EsbException(
                "ESB-LOOKUP-LIMIT",
                $"The map needs more than {MaxEntries} entries of databases for one message.",
                FaultKind.Internal
            );
        _missing.Add((lookup, text));
        return _examples.GetValueOrDefault(lookup, Nothing); // so that the run continues, and names the keys behind this one
    }

    private IReadOnlyDictionary<string, string>? Keep(SqlLookup lookup, string key, IReadOnlyDictionary<string, string>? entry)
    {
        if (entry is not null)
            _examples[lookup] = entry;
        return _known[(lookup, key)] = entry;
    }
}
