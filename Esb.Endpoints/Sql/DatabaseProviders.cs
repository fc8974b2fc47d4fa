using System.Collections;
using Esb.Delivery.Databases;
using Esb.Endpoints.Sql.Clients;

namespace Esb.Endpoints.Sql;

/// <summary>All database clients: those built in, and those of plug-ins.</summary>
internal sealed class DatabaseProviders(IEnumerable<IDatabaseProvider> own, IEnumerable<IDatabaseClient> clients)
    : IEnumerable<IDatabaseProvider>
{
    private readonly List<IDatabaseProvider> _all = [.. own, .. clients.Select(client => new ClientProvider(client))];

    public IEnumerator<IDatabaseProvider> GetEnumerator() => _all.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
