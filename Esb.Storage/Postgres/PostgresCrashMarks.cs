using Dapper;
using Esb.Core.Storage;

namespace Esb.Storage.Postgres;

/// <summary>Marks in the table <c>attempt</c>, beside the failed attempts of <see cref="PostgresAttemptStore"/>.</summary>
internal sealed class PostgresCrashMarks(PostgresDatabase database, TimeProvider time) : ICrashMarks
{
    private const string Add =
        """
        delete from attempt where marked_at < least(@before, now() - (@now - @before)); -- by the older of the two clocks
        insert into attempt (endpoint, message_id, marks, marked_at) values (@endpoint, @messageId, 1, @now)
        on conflict (endpoint, message_id) do update set marks = attempt.marks + 1, marked_at = @now
        returning marks
        """;

    private const string Remove =
        """
        delete from attempt where endpoint = @endpoint and message_id = @messageId and attempts = 0;
        update attempt set marks = 0 where endpoint = @endpoint and message_id = @messageId
        """;

    public Task<int> AddAsync(string endpoint, Guid messageId, CancellationToken cancellationToken)
    {
        var now = time.GetUtcNow();
        return database.RunAsync(
            connection => connection.ExecuteScalarAsync<int>(new CommandDefinition(Add, new { endpoint, messageId, now = now.UtcDateTime, before = AttemptRetention.Oldest(time).UtcDateTime }, cancellationToken: cancellationToken)),
            cancellationToken);
    }

    public Task RemoveAsync(string endpoint, Guid messageId, CancellationToken cancellationToken) => database.RunAsync(
        connection => connection.ExecuteAsync(new CommandDefinition(Remove, new { endpoint, messageId }, cancellationToken: cancellationToken)),
        cancellationToken);
}
