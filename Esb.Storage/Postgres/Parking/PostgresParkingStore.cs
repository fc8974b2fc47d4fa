using Dapper;
using Esb.Core.Storage;
using Npgsql;

namespace Esb.Storage.Postgres.Parking;

/// <summary>Parked messages in PostgreSQL, for all hosts that share it.</summary>
internal sealed class PostgresParkingStore(PostgresDatabase database, TimeProvider time) : IParkingStore
{
    // As long as a release may be under way before another host sends one.
    private static readonly TimeSpan ReleaseLease = TimeSpan.FromSeconds(30);

    private const int MostDue = 100;

    private const string Take =
        """
        insert into lane_owner (endpoint, lane, token) values (@endpoint, @lane, 1)
        on conflict (endpoint, lane) do update set token = lane_owner.token + 1, taken_at = now()
        returning token;
        select key from parked_key where endpoint = @endpoint
        """;

    private const string First =
        $"""
        select token from lane_owner where endpoint = @endpoint and lane = @lane and token = @token;
        select {PostgresParkedRow.Columns} from parked_message where endpoint = @endpoint and key_hash = @hash order by number limit 1;
        select due_at from parked_key where endpoint = @endpoint and key_hash = @hash
        """;

    private const string Due =
        """
        update parked_key set leased_until = @leased
        where (endpoint, key_hash) in (
          select endpoint, key_hash from parked_key
          where endpoint = @endpoint and due_at <= @now and (leased_until is null or leased_until <= @now)
          order by due_at limit @most for update skip locked)
        returning key
        """;

    private const string List =
        """
        select k.endpoint, k.key, k.count, k.since, k.due_at as DueAt, m.failures
        from parked_key k
        left join lateral (select failures from parked_message where endpoint = k.endpoint and key_hash = k.key_hash order by number limit 1) m on true
        where @endpoint::text is null or k.endpoint = @endpoint
        order by k.since limit @limit
        """;

    private const string Summaries =
        """
        select message_id as MessageId, conversation_id as ConversationId, subject, attempt, party from parked_message
        where endpoint = @endpoint and key_hash = @hash and (@id::uuid is null or message_id = @id)
        order by number desc limit @limit
        """;

    public Task<LaneOwner> TakeLaneAsync(string endpoint, int lane, CancellationToken cancellationToken) => database.RunAsync(
        async connection =>
        {
            await using var taken = await connection.QueryMultipleAsync(Command(Take, new { endpoint, lane }, cancellationToken));
            return new LaneOwner(endpoint, lane, await taken.ReadSingleAsync<long>(), [.. await taken.ReadAsync<string>()]);
        },
        cancellationToken);

    public Task VerifyAsync(LaneOwner owner, CancellationToken cancellationToken) => database.RunAsync(
        async connection =>
        {
            var token = await connection.ExecuteScalarAsync<long?>(Command("select token from lane_owner where endpoint = @Endpoint and lane = @Lane", owner, cancellationToken));
            return token == owner.Token ? true : throw LaneErrors.Lost(owner.Endpoint, owner.Lane);
        },
        cancellationToken);

    public Task ParkAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) => InLineAsync(
        (connection, token) => PostgresLine.LockAsync(connection, owner, LineKey.Of(message.Message), token),
        async line =>
        {
            if (!line.IsParked) await line.BeginAsync(message.ParkedAt, message.DueAt);
            await line.AddAsync(message);
            return true;
        },
        cancellationToken);

    public Task<bool> TryJoinAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) => InLineAsync(
        (connection, token) => PostgresLine.LockAsync(connection, owner, LineKey.Of(message.Message), token),
        async line =>
        {
            if (line.IsParked) await line.AddAsync(message);
            return line.IsParked;
        },
        cancellationToken);

    public Task<ParkedMessage?> FirstAsync(LaneOwner owner, string key, CancellationToken cancellationToken) => database.RunAsync(
        async connection =>
        {
            await using var found = await connection.QueryMultipleAsync(
                Command(First, new { endpoint = owner.Endpoint, lane = owner.Lane, token = owner.Token, hash = KeyHash.Of(key) }, cancellationToken));
            if (await found.ReadSingleOrDefaultAsync<long?>() is null) throw LaneErrors.Lost(owner.Endpoint, owner.Lane);
            var row = await found.ReadSingleOrDefaultAsync<PostgresParkedRow>();
            var dueAt = await found.ReadSingleOrDefaultAsync<DateTime?>(); // also of no row: what is left unread costs a connection to cancel it
            return row?.ToParked(Offset(dueAt));
        },
        cancellationToken);

    public Task<bool> RemoveAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) => InLineAsync(
        (connection, token) => PostgresLine.LockAsync(connection, owner, LineKey.Of(message.Message), token),
        async line => !line.IsParked || (await line.RemoveAsync([message.Message.Id], time.GetUtcNow(), ReleaseLease)).IsFree,
        cancellationToken);

    public Task RescheduleAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) => InLineAsync(
        (connection, token) => PostgresLine.LockAsync(connection, owner, LineKey.Of(message.Message), token),
        async line =>
        {
            await line.RescheduleAsync(message);
            return true;
        },
        cancellationToken);

    public Task<IReadOnlyList<string>> TakeDueAsync(string endpoint, CancellationToken cancellationToken)
    {
        var now = time.GetUtcNow();
        return database.RunAsync<IReadOnlyList<string>>(
            async connection => [.. await connection.QueryAsync<string>(
                Command(Due, new { endpoint, now = now.UtcDateTime, leased = (now + ReleaseLease).UtcDateTime, most = MostDue }, cancellationToken))],
            cancellationToken);
    }

    public Task<IReadOnlyList<ParkedKey>> ListAsync(string? endpoint, int limit, CancellationToken cancellationToken) => database.RunAsync<IReadOnlyList<ParkedKey>>(
        async connection => [.. (await connection.QueryAsync<KeyRow>(Command(List, new { endpoint, limit = Math.Clamp(limit, 1, 1000) }, cancellationToken))).Select(row => row.ToKey())],
        cancellationToken);

    public Task<IReadOnlyList<ParkedMessage>> MessagesAsync(string endpoint, string key, int limit, CancellationToken cancellationToken) => database.RunAsync<IReadOnlyList<ParkedMessage>>(
        async connection =>
        {
            await using var found = await connection.QueryMultipleAsync(Command(
                $"""
                select due_at from parked_key where endpoint = @endpoint and key_hash = @hash;
                select {PostgresParkedRow.Columns} from parked_message where endpoint = @endpoint and key_hash = @hash order by number limit @limit
                """,
                new { endpoint, hash = KeyHash.Of(key), limit = Math.Clamp(limit, 1, 1000) }, cancellationToken));
            var dueAt = Offset(await found.ReadSingleOrDefaultAsync<DateTime?>());
            return [.. (await found.ReadAsync<PostgresParkedRow>()).Select((row, place) => row.ToParked(place == 0 ? dueAt : null))];
        },
        cancellationToken);

    public Task<bool> ReleaseAsync(string endpoint, string key, CancellationToken cancellationToken) => database.RunAsync(
        async connection => await connection.ExecuteAsync(Command(
            "update parked_key set due_at = @now, leased_until = null where endpoint = @endpoint and key_hash = @hash",
            new { endpoint, hash = KeyHash.Of(key), now = time.GetUtcNow().UtcDateTime }, cancellationToken)) > 0,
        cancellationToken);

    public Task<IReadOnlyList<ParkedSummary>> SummariesAsync(string endpoint, string key, Guid? messageId, int limit, CancellationToken cancellationToken) => database.RunAsync<IReadOnlyList<ParkedSummary>>(
        async connection => [.. await connection.QueryAsync<ParkedSummary>(Command(Summaries, new { endpoint, hash = KeyHash.Of(key), id = messageId, limit }, cancellationToken))],
        cancellationToken);

    public Task<long> DiscardAsync(string endpoint, string key, IReadOnlyCollection<Guid> messageIds, CancellationToken cancellationToken) => InLineAsync(
        (connection, token) => PostgresLine.LockAsync(connection, endpoint, key, token),
        async line => line.IsParked ? (await line.RemoveAsync(messageIds, time.GetUtcNow(), TimeSpan.Zero)).Removed : 0,
        cancellationToken);

    private Task<T> InLineAsync<T>(Func<NpgsqlConnection, CancellationToken, Task<PostgresLine>> lockLine, Func<PostgresLine, Task<T>> work, CancellationToken cancellationToken) => database.RunAsync(
        async connection =>
        {
            await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
            var result = await work(await lockLine(connection, cancellationToken));
            await transaction.CommitAsync(cancellationToken);
            return result;
        },
        cancellationToken);

    private static DateTimeOffset? Offset(DateTime? time) => time is { } known ? new DateTimeOffset(known) : null;

    private static CommandDefinition Command(string sql, object parameters, CancellationToken cancellationToken) => new(sql, parameters, cancellationToken: cancellationToken);

    private sealed record KeyRow(string Endpoint, string Key, long Count, DateTime Since, DateTime? DueAt, string? Failures)
    {
        public ParkedKey ToKey() => new(
            Endpoint, Key, Count, new DateTimeOffset(Since), Offset(DueAt), Failures is null ? null : PostgresParkedRow.FromJson(Failures).LastOrDefault());
    }
}
