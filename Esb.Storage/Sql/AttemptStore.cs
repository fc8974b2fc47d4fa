using Esb.Core.Storage;

namespace Esb.Storage.Sql;

/// <summary>Failed attempts in the table <c>attempt</c>, beside the marks of <see cref="CrashMarks"/>.</summary>
internal sealed class AttemptStore(SqlDatabase database, TimeProvider time) : IAttemptStore
{
    /// <summary>Deletes attempts that were unchanged for the retention, by the older of the two clocks.</summary>
    public const string RemoveOld = "delete from attempt where marked_at < least(@now, now()) - @retention";

    private const string Keep = """
        insert into attempt (endpoint, message_id, marks, marked_at, attempts, failures, due_at)
        values (@endpoint, @messageId, 0, @now, @count, @failures, @dueAt)
        on conflict (endpoint, message_id) do update
        set marked_at = excluded.marked_at, attempts = excluded.attempts, failures = excluded.failures, due_at = excluded.due_at
        where attempt.attempts <= excluded.attempts
        """;

    private const string Remove = """
        delete from attempt where endpoint = @endpoint and message_id = @messageId and marks = 0;
        update attempt set attempts = 0, failures = '[]', due_at = null where endpoint = @endpoint and message_id = @messageId
        """;

    public Task<KeptAttempts?> FindAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) =>
        database.FirstAsync(
            "select attempts, failures, due_at from attempt where endpoint = @endpoint and message_id = @messageId and attempts > 0",
            row => new KeptAttempts(row.Int("attempts"), row.Failures("failures"), row.TimeOrNull("due_at")),
            cancellationToken,
            ("endpoint", endpoint),
            ("messageId", messageId)
        );

    public Task KeepAsync(string endpoint, Guid messageId, KeptAttempts attempts, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            $"{RemoveOld}; {Keep}",
            cancellationToken,
            ("endpoint", endpoint),
            ("messageId", messageId),
            ("now", time.GetUtcNow()),
            ("retention", AttemptRetention.Kept),
            ("count", attempts.Count),
            ("failures", new SqlJson(StoredJson.Of(attempts.Failures))),
            ("dueAt", attempts.DueAt)
        );

    public Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) =>
        database.ExecuteAsync(Remove, cancellationToken, ("endpoint", endpoint), ("messageId", messageId));
}
