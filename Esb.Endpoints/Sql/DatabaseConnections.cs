using System.Collections.Concurrent;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Storage;

namespace Esb.Endpoints.Sql;

/// <summary>The databases of the section <c>connections</c>: one pool per process for each, created on first use and shared by all
/// endpoints. Thread-safe.</summary>
internal sealed class DatabaseConnections(Live<IReadOnlyDictionary<string, ConnectionConfig>> connections, DatabaseProviders providers)
    : IAsyncDisposable
{
    private const int ConnectionsPerCore = 4;
    private const int FewestConnections = 8;

    private readonly ConcurrentDictionary<string, (string Fingerprint, Lazy<Database> Database)> _databases = new();
    private readonly ConcurrentBag<Lazy<Database>> _left = [];

    /// <summary>Returns the database of a configured connection.</summary>
    /// <remarks>A connection that another revision changes gets a new pool; the old one serves the calls in progress.</remarks>
    public Database Find(string name)
    {
        var connection = connections.Current[name];
        var fingerprint = Fingerprint.Of(connection);
        return _databases
            .AddOrUpdate(
                name,
                _ => (fingerprint, new Lazy<Database>(() => Open(name, connection))),
                (_, known) =>
                {
                    if (known.Fingerprint == fingerprint)
                        return known;
                    _left.Add(known.Database);
                    return (fingerprint, new Lazy<Database>(() => Open(name, connection)));
                }
            )
            .Database.Value;
    }

    /// <summary>The connections to all databases that callers have now.</summary>
    public int InUse =>
        _databases.Values.Select(known => known.Database).Where(database => database.IsValueCreated).Sum(database => database.Value.InUse);

    /// <summary>True if a configured connection can hold the bus's own tables.</summary>
    public bool HasBusTables(string name) => Find(name).Provider.HasBusTables;

    public async ValueTask DisposeAsync()
    {
        foreach (var database in _databases.Values.Select(known => known.Database).Concat(_left).Where(database => database.IsValueCreated))
            await database.Value.DisposeAsync();
    }

    private Database Open(string name, ConnectionConfig connection)
    {
        var provider = providers.First(candidate => candidate.Name == connection.Provider);
        var size = connection.MaxPoolSize ?? Math.Max(FewestConnections, ConnectionsPerCore * Environment.ProcessorCount);
        return new Database(name, provider, provider.Open(connection, size), size);
    }
}
