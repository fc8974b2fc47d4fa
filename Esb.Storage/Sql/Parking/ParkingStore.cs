using Esb.Core.Storage;

namespace Esb.Storage.Sql.Parking;

/// <summary>Parked messages in the tables <c>parked_key</c> and <c>parked_message</c>, for all hosts that share them.</summary>
internal sealed class ParkingStore(SqlDatabase database, TimeProvider time) : IParkingStore
{
    // As long as a release may be under way before another host sends one.
    private static readonly TimeSpan ReleaseLease = TimeSpan.FromSeconds(30);

    private const int MostDue = 100;

    private const string Columns = $"{StoredEnvelope.Columns}, number, parked_at, failures";

    private const string Take = """
        insert into lane_owner (endpoint, lane, token, taken_at) values (@endpoint, @lane, 1, now())
        on conflict (endpoint, lane) do update set token = lane_owner.token + 1, taken_at = now()
        returning token;
        select key from parked_key where endpoint = @endpoint
        """;

    private const string First = $"""
        select token from lane_owner where endpoint = @endpoint and lane = @lane and token = @token;
        select {Columns} from parked_message where endpoint = @endpoint and key_hash = @hash order by number limit 1;
        select due_at from parked_key where endpoint = @endpoint and key_hash = @hash
        """;

    private const string Line = $"""
        select due_at from parked_key where endpoint = @endpoint and key_hash = @hash;
        select {Columns} from parked_message where endpoint = @endpoint and key_hash = @hash and number > @after
        order by number limit @limit
        """;

    private const string One = $"""
        select {Columns} from parked_message where endpoint = @endpoint and key_hash = @hash and message_id = @id
        """;

    public Task<LaneOwner> TakeLaneAsync(string endpoint, int lane, CancellationToken cancellationToken) =>
        database.TransactAsync(
            async session =>
            {
                await using var taken = await session.QueryManyAsync(Take, [("endpoint", endpoint), ("lane", lane)]);
                var token = await taken.FirstAsync(row => row.Long("token"));
                return new LaneOwner(endpoint, lane, token, await taken.ReadAsync(row => row.Text("key")));
            },
            cancellationToken
        );

    public async Task VerifyAsync(LaneOwner owner, CancellationToken cancellationToken)
    {
        var token = await database.FirstAsync<long?>(
            "select token from lane_owner where endpoint = @endpoint and lane = @lane",
            row => row.Long("token"),
            cancellationToken,
            ("endpoint", owner.Endpoint),
            ("lane", owner.Lane)
        );
        if (token != owner.Token)
            throw LaneErrors.Lost(owner.Endpoint, owner.Lane);
    }

    public Task ParkAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) =>
        InLineAsync(
            session => ParkedLine.LockAsync(session, owner, LineKey.Of(message.Message)),
            async line =>
            {
                if (!line.IsParked)
                    await line.BeginAsync(message.ParkedAt, message.DueAt);
                await line.AddAsync(message, database.Cipher);
                return true;
            },
            cancellationToken
        );

    public Task<bool> TryJoinAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) =>
        InLineAsync(
            session => ParkedLine.LockAsync(session, owner, LineKey.Of(message.Message)),
            async line =>
            {
                if (line.IsParked)
                    await line.AddAsync(message, database.Cipher);
                return line.IsParked;
            },
            cancellationToken
        );

    public Task<ParkedMessage?> FirstAsync(LaneOwner owner, string key, CancellationToken cancellationToken) =>
        database.ReadAsync(
            async session =>
            {
                await using var found = await session.QueryManyAsync(
                    First,
                    [("endpoint", owner.Endpoint), ("lane", owner.Lane), ("token", owner.Token), ("hash", KeyHash.Of(key))]
                );
                if (await found.FirstAsync<long?>(row => row.Long("token")) is null)
                    throw LaneErrors.Lost(owner.Endpoint, owner.Lane);
                var message = await found.FirstAsync(Message);
                return message is null ? null : message with { DueAt = await found.FirstAsync(row => row.TimeOrNull("due_at")) };
            },
            cancellationToken
        );

    public Task<bool> RemoveAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) =>
        InLineAsync(
            session => ParkedLine.LockAsync(session, owner, LineKey.Of(message.Message)),
            async line => !line.IsParked || (await line.RemoveAsync([message.Message.Id], time.GetUtcNow(), ReleaseLease)).IsFree,
            cancellationToken
        );

    public Task RescheduleAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken) =>
        InLineAsync(
            session => ParkedLine.LockAsync(session, owner, LineKey.Of(message.Message)),
            line => line.RescheduleAsync(message),
            cancellationToken
        );

    public async Task<IReadOnlyList<string>> TakeDueAsync(string endpoint, CancellationToken cancellationToken)
    {
        var now = time.GetUtcNow();
        return await database.WriteAsync(
            session =>
                session.QueryAsync(
                    $"""
                    update parked_key set leased_until = @leased
                    where (endpoint, key_hash) in (
                      select endpoint, key_hash from parked_key
                      where endpoint = @endpoint and due_at <= @now and (leased_until is null or leased_until <= @now)
                      order by due_at limit {MostDue}{session.Dialect.ForUpdateSkipLocked})
                    returning key
                    """,
                    row => row.Text("key"),
                    ("endpoint", endpoint),
                    ("now", now),
                    ("leased", now + ReleaseLease)
                ),
            cancellationToken
        );
    }

    public async Task<IReadOnlyList<ParkedKey>> ListAsync(
        string? endpoint,
        ParkedPosition? after,
        int limit,
        CancellationToken cancellationToken
    )
    {
        var (conditions, parameters) = (new List<string>(), new List<(string, object?)>());
        if (endpoint is not null)
        {
            conditions.Add("endpoint = @endpoint");
            parameters.Add(("endpoint", endpoint));
        }

        if (after is not null)
        {
            conditions.Add("(since, endpoint, key_hash) > (@since, @after, @hash)");
            parameters.AddRange([("since", after.Since), ("after", after.Endpoint), ("hash", KeyHash.Of(after.Key))]);
        }

        return await database.QueryAsync(
            $"""
            select endpoint, key, count, since, due_at,
              (select failures from parked_message m where m.endpoint = k.endpoint and m.key_hash = k.key_hash order by number limit 1) as
                failures
            from parked_key k {(conditions.Count == 0 ? "" : $"where {string.Join(" and ", conditions)}")}
            order by since, endpoint, key_hash limit {Math.Clamp(limit, 1, 1000)}
            """,
            Key,
            cancellationToken,
            [.. parameters]
        );
    }

    public Task<IReadOnlyList<ParkedMessage>> MessagesAsync(
        string endpoint,
        string key,
        long after,
        int limit,
        CancellationToken cancellationToken
    ) =>
        database.ReadAsync<IReadOnlyList<ParkedMessage>>(
            async session =>
            {
                await using var found = await session.QueryManyAsync(
                    Line,
                    [("endpoint", endpoint), ("hash", KeyHash.Of(key)), ("after", after), ("limit", Math.Clamp(limit, 1, 1000))]
                );
                var dueAt = await found.FirstAsync(row => row.TimeOrNull("due_at"));
                var messages = await found.ReadAsync(Message);
                if (messages.Count > 0 && after == 0)
                    messages[0] = messages[0] with { DueAt = dueAt };
                return messages;
            },
            cancellationToken
        );

    public Task<ParkedMessage?> FindAsync(string endpoint, string key, Guid messageId, CancellationToken cancellationToken) =>
        database.FirstAsync<ParkedMessage?>(
            One,
            Message,
            cancellationToken,
            ("endpoint", endpoint),
            ("hash", KeyHash.Of(key)),
            ("id", messageId)
        );

    public async Task<bool> ReleaseAsync(string endpoint, string key, CancellationToken cancellationToken) =>
        await database.ExecuteAsync(
            "update parked_key set due_at = @now, leased_until = null where endpoint = @endpoint and key_hash = @hash",
            cancellationToken,
            ("endpoint", endpoint),
            ("hash", KeyHash.Of(key)),
            ("now", time.GetUtcNow())
        ) > 0;

    public async Task<IReadOnlyList<ParkedSummary>> SummariesAsync(
        string endpoint,
        string key,
        Guid? messageId,
        int limit,
        CancellationToken cancellationToken
    )
    {
        (string, object?)[] line = [("endpoint", endpoint), ("hash", KeyHash.Of(key)), ("limit", limit)];
        return await database.QueryAsync(
            $"""
            select message_id, conversation_id, subject, attempt, party from parked_message
            where endpoint = @endpoint and key_hash = @hash {(
                messageId is null ? "" : "and message_id = @id"
            )} order by number desc limit @limit
            """,
            row => new ParkedSummary(
                row.Id("message_id"),
                row.Id("conversation_id"),
                row.Text("subject"),
                row.Int("attempt"),
                row.TextOrNull("party")
            ),
            cancellationToken,
            messageId is { } id ? [.. line, ("id", id)] : line
        );
    }

    public Task<long> DiscardAsync(
        string endpoint,
        string key,
        IReadOnlyCollection<Guid> messageIds,
        CancellationToken cancellationToken
    ) =>
        InLineAsync(
            session => ParkedLine.LockAsync(session, endpoint, key),
            async line => line.IsParked ? (await line.RemoveAsync(messageIds, time.GetUtcNow(), TimeSpan.Zero)).Removed : 0,
            cancellationToken
        );

    private Task<T> InLineAsync<T>(
        Func<SqlSession, Task<ParkedLine>> lockLine,
        Func<ParkedLine, Task<T>> work,
        CancellationToken cancellationToken
    ) => database.TransactAsync(async session => await work(await lockLine(session)), cancellationToken);

    private ParkedMessage Message(SqlRow row) =>
        new(StoredEnvelope.Read(row, database.Cipher), row.Time("parked_at"), row.Failures("failures"), DueAt: null)
        {
            Number = row.Long("number"),
        };

    private static ParkedKey Key(SqlRow row) =>
        new(
            row.Text("endpoint"),
            row.Text("key"),
            row.Long("count"),
            row.Time("since"),
            row.TimeOrNull("due_at"),
            row.TextOrNull("failures") is null ? null : row.Failures("failures").LastOrDefault()
        );
}
