using System.Collections.Concurrent;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Storage;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>The outbox of each connection. Thread-safe.</summary>
internal sealed class OutboxTables(BusIdentity bus, IBodyCipher cipher)
{
    private readonly ConcurrentDictionary<string, OutboxTable> _tables = new();

    /// <summary>Returns the outbox in the database of a connection.</summary>
    public OutboxTable Of(string connection) => _tables.GetOrAdd(connection, _ => new OutboxTable(bus.Name, cipher));
}
