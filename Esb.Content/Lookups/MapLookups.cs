using Esb.Content.Transforms;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Storage;

namespace Esb.Content.Lookups;

/// <summary>Look-ups as maps use them. Thread-safe.</summary>
/// <param name="lookups">The look-ups of the configuration.</param>
/// <param name="queries">Asks databases.</param>
internal sealed class MapLookups(LookupModels lookups, ILookupQueries? queries)
{
    private readonly bool _areInDatabases = lookups.All.Values.OfType<SqlLookup>().Any();

    /// <summary>Finds the entry of a look-up by the look-up's name and a key; null if there are no look-ups.</summary>
    public Func<string, object?, object?>? Find { get; } = Of(lookups);

    /// <inheritdoc cref="Find"/>
    public static Func<string, object?, object?>? Of(LookupModels lookups) =>
        lookups.All.Count == 0 ? null : (name, key) => MessageValues.AsText(key) is { } text ? Named(lookups, name).Find(text) : null;

    /// <exception cref="EsbException"><c>ESB-LOOKUP-NAME</c>.</exception>
    public static ILookup Named(LookupModels lookups, string name) =>
        lookups.Find(name)
        ?? throw new EsbException("ESB-LOOKUP-NAME", "The map names a look-up that the configuration does not have.", FaultKind.Internal);

    /// <summary>Runs a map with all entries that it needs.</summary>
    /// <param name="call">The message.</param>
    /// <param name="run">Runs the map; without effects, since it may run several times.</param>
    /// <param name="cancellationToken">Cancels queries.</param>
    /// <exception cref="EsbException">Of the map; of the database, <c>ESB-SQL-…</c>; <c>ESB-LOOKUP-LIMIT</c>.</exception>
    public ValueTask<T> RunAsync<T>(MapCall call, Func<MapCall, T> run, CancellationToken cancellationToken) =>
        _areInDatabases && queries is not null
            ? new MapEntries(lookups, queries).RunAsync(call, run, cancellationToken)
            : ValueTask.FromResult(run(call with { Lookup = Find }));
}
