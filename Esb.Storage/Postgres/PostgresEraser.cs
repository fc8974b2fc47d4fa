using Dapper;
using Esb.Core.Audit;

namespace Esb.Storage.Postgres;

/// <summary>Erases bodies in place: needs the right to update the column <c>body</c>, and no other.</summary>
internal sealed class PostgresEraser(PostgresDatabase database) : IAuditEraser
{
    private const string Count = "select count(*) from audit_event where message_id = @messageId and body is not null";
    private const string Erase = "update audit_event set body = null where message_id = @messageId and body is not null";

    public Task<long> CountBodiesAsync(Guid messageId, CancellationToken cancellationToken) => database.RunAsync(
        connection => connection.ExecuteScalarAsync<long>(new CommandDefinition(Count, new { messageId }, cancellationToken: cancellationToken)), cancellationToken);

    public Task<long> EraseBodiesAsync(Guid messageId, CancellationToken cancellationToken) => database.RunAsync<long>(
        async connection => await connection.ExecuteAsync(new CommandDefinition(Erase, new { messageId }, cancellationToken: cancellationToken)), cancellationToken);
}
