using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Endpoints.Sql.Tables;

namespace Esb.Endpoints.Sql.Transactions;

/// <inheritdoc cref="ITransactionSupport"/>
internal sealed class SqlTransactionSupport(IReadOnlyDictionary<string, ConnectionConfig> connections, DatabaseProviders providers)
    : ITransactionSupport
{
    public string? ObstacleOf(string connection) => BusTables.ObstacleOf(connection, connections, providers);
}
