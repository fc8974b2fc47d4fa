using System.Collections.Concurrent;
using Esb.Core.Configuration;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>The outbox of each connection. Thread-safe.</summary>
internal sealed class OutboxTables(EsbConfiguration configuration)
{
    private readonly ConcurrentDictionary<string, OutboxTable> _tables = new();

    /// <summary>The outbox in the database of a connection.</summary>
    public OutboxTable Of(string connection) => _tables.GetOrAdd(connection, _ => new OutboxTable(configuration.Name));
}
