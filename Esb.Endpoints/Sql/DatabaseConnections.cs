using System.Collections.Concurrent;
using Esb.Core.Configuration;
using Esb.Core.Storage;

namespace Esb.Endpoints.Sql;

/// <summary>The databases of the section <c>connections</c>: one pool per process for each, made when it is first needed, whatever the number of endpoints. Thread-safe.</summary>
internal sealed class DatabaseConnections(EsbConfiguration configuration, IEnumerable<IDatabaseProvider> providers) : IAsyncDisposable
{
    private const int ConnectionsPerCore = 4;
    private const int FewestConnections = 8;

    private readonly ConcurrentDictionary<string, Lazy<Database>> _databases = new();

    /// <summary>The database that a connection of the configuration names.</summary>
    public Database Find(string name) => _databases.GetOrAdd(name, known => new Lazy<Database>(() => Open(known))).Value;

    public async ValueTask DisposeAsync()
    {
        foreach (var database in _databases.Values.Where(database => database.IsValueCreated)) await database.Value.DisposeAsync();
    }

    private Database Open(string name)
    {
        var connection = configuration.Named<ConnectionConfig>("connections")[name];
        var provider = providers.First(candidate => candidate.Name == connection.Provider);
        var size = connection.MaxPoolSize ?? Math.Max(FewestConnections, ConnectionsPerCore * Environment.ProcessorCount);
        return new Database(name, provider, provider.Open(connection, size), size);
    }
}
