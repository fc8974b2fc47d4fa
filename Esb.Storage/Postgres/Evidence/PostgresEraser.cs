using Dapper;
using Esb.Core.Audit;

namespace Esb.Storage.Postgres.Evidence;

/// <summary>Erases bodies in place, and those that come later as they come: needs the right to call <c>erase_audit_bodies</c>, and none to
/// update.</summary>
internal sealed class PostgresEraser(PostgresDatabase database) : IAuditEraser
{
    private const string IsErased =
        "select exists (select from audit_erasure where message_id = @messageId) and not exists (select from audit_event where "
        + "message_id = @messageId and body is not null)";

    private const string Erase = "select erase_audit_bodies(@messageId)";

    public Task<bool> IsErasedAsync(Guid messageId, CancellationToken cancellationToken) =>
        database.RunAsync(
            connection =>
                connection.ExecuteScalarAsync<bool>(
                    new CommandDefinition(IsErased, new { messageId }, cancellationToken: cancellationToken)
                ),
            cancellationToken
        );

    public Task<long> EraseBodiesAsync(Guid messageId, CancellationToken cancellationToken) =>
        database.RunAsync(
            connection =>
                connection.ExecuteScalarAsync<long>(new CommandDefinition(Erase, new { messageId }, cancellationToken: cancellationToken)),
            cancellationToken
        );
}
