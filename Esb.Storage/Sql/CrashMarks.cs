using Esb.Core.Storage;

namespace Esb.Storage.Sql;

/// <summary>Marks in the table <c>attempt</c>, beside the failed attempts of <see cref="AttemptStore"/>.</summary>
internal sealed class CrashMarks(SqlDatabase database, TimeProvider time) : ICrashMarks
{
    private const string Add = $"""
        {AttemptStore.RemoveOld};
        insert into attempt (endpoint, message_id, marks, marked_at) values (@endpoint, @messageId, 1, @now)
        on conflict (endpoint, message_id) do update set marks = attempt.marks + 1, marked_at = @now
        returning marks
        """;

    private const string Remove = """
        delete from attempt where endpoint = @endpoint and message_id = @messageId and attempts = 0;
        update attempt set marks = 0 where endpoint = @endpoint and message_id = @messageId
        """;

    public Task<int> AddAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) =>
        database.WriteAsync(
            session =>
                session.FirstAsync(
                    Add,
                    row => row.Int("marks"),
                    ("endpoint", endpoint),
                    ("messageId", messageId),
                    ("now", time.GetUtcNow()),
                    ("retention", AttemptRetention.Kept)
                ),
            cancellationToken
        );

    public Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) =>
        database.ExecuteAsync(Remove, cancellationToken, ("endpoint", endpoint), ("messageId", messageId));
}
