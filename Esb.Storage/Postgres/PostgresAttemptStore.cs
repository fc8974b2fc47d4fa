using Dapper;
using Esb.Core.Storage;
using Esb.Storage.Postgres.Parking;

namespace Esb.Storage.Postgres;

/// <summary>Failed attempts in the table <c>attempt</c>, beside the marks of <see cref="PostgresCrashMarks"/>.</summary>
internal sealed class PostgresAttemptStore(PostgresDatabase database, TimeProvider time) : IAttemptStore
{
    private const string Find =
        "select attempts, failures, due_at as DueAt from attempt where endpoint = @endpoint and message_id = @messageId and attempts > 0";

    private const string Keep =
        """
        delete from attempt where marked_at < least(@before, now() - (@now - @before)); -- by the older of the two clocks
        insert into attempt (endpoint, message_id, marks, marked_at, attempts, failures, due_at)
        values (@endpoint, @messageId, 0, @now, @count, @failures::jsonb, @dueAt)
        on conflict (endpoint, message_id) do update
        set marked_at = excluded.marked_at, attempts = excluded.attempts, failures = excluded.failures, due_at = excluded.due_at
        where attempt.attempts <= excluded.attempts
        """;

    private const string Remove =
        """
        delete from attempt where endpoint = @endpoint and message_id = @messageId and marks = 0;
        update attempt set attempts = 0, failures = '[]', due_at = null where endpoint = @endpoint and message_id = @messageId
        """;

    public Task<KeptAttempts?> FindAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) => database.RunAsync(
        async connection =>
        {
            var row = await connection.QuerySingleOrDefaultAsync<Row>(new CommandDefinition(Find, new { endpoint, messageId }, cancellationToken: cancellationToken));
            return row is null ? null : new KeptAttempts(row.Attempts, PostgresParkedRow.FromJson(row.Failures), row.DueAt is { } due ? new DateTimeOffset(due) : null);
        },
        cancellationToken);

    public Task KeepAsync(string endpoint, Guid messageId, KeptAttempts attempts, CancellationToken cancellationToken)
    {
        var (failures, dueAt) = (PostgresParkedRow.ToJson(attempts.Failures), attempts.DueAt?.UtcDateTime);
        var (now, before) = (time.GetUtcNow().UtcDateTime, AttemptRetention.Oldest(time).UtcDateTime);
        return ExecuteAsync(Keep, new { endpoint, messageId, now, before, count = attempts.Count, failures, dueAt }, cancellationToken);
    }

    public Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) => ExecuteAsync(Remove, new { endpoint, messageId }, cancellationToken);

    private Task ExecuteAsync(string sql, object parameters, CancellationToken cancellationToken) =>
        database.RunAsync(connection => connection.ExecuteAsync(new CommandDefinition(sql, parameters, cancellationToken: cancellationToken)), cancellationToken);

    private sealed record Row
    {
        public int Attempts { get; init; }

        public string Failures { get; init; } = "[]";

        public DateTime? DueAt { get; init; }
    }
}
