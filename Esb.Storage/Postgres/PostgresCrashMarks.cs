using Dapper;
using Esb.Core.Storage;

namespace Esb.Storage.Postgres;

/// <summary>Marks in the table <c>attempt</c>.</summary>
internal sealed class PostgresCrashMarks(PostgresDatabase database, TimeProvider time) : ICrashMarks
{
    private static readonly TimeSpan Kept = TimeSpan.FromDays(7);

    private const string Add =
        """
        delete from attempt where marked_at < @before;
        insert into attempt (endpoint, message_id, marks, marked_at) values (@endpoint, @messageId, 1, @now)
        on conflict (endpoint, message_id) do update set marks = attempt.marks + 1, marked_at = @now
        returning marks
        """;

    public Task<int> AddAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        var now = time.GetUtcNow();
        return database.RunAsync(
            connection => connection.ExecuteScalarAsync<int>(new CommandDefinition(Add, new { endpoint, messageId, now = now.UtcDateTime, before = (now - Kept).UtcDateTime }, cancellationToken: cancellationToken)),
            cancellationToken);
    }

    public Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) => database.RunAsync(
        connection => connection.ExecuteAsync(new CommandDefinition("delete from attempt where endpoint = @endpoint and message_id = @messageId", new { endpoint, messageId }, cancellationToken: cancellationToken)),
        cancellationToken);
}
