using Esb.Core.Storage;

namespace Esb.Storage.Sql.Parking;

/// <summary>The line of one key within a transaction that holds its lock: no other session changes it before the commit.</summary>
internal sealed class ParkedLine
{
    private const string Find = "select count from parked_key where endpoint = @endpoint and key_hash = @hash";

    // A host that takes over the lane waits for the transactions of its previous owner.
    private const string Own = "select token from lane_owner where endpoint = @endpoint and lane = @lane and token = @token";

    private const string Add = $"""
        insert into parked_message (endpoint, key_hash, {StoredEnvelope.Columns}, parked_at, failures)
        values (@endpoint, @hash, {StoredEnvelope.Values}, @parkedAt, @failures)
        on conflict (endpoint, key_hash, message_id) do nothing
        """;

    private readonly SqlSession _session;
    private readonly string _endpoint;
    private readonly string _key;
    private readonly byte[] _hash;

    private ParkedLine(SqlSession session, string endpoint, string key)
    {
        (_session, _endpoint, _key) = (session, endpoint, key);
        _hash = KeyHash.Of(key);
    }

    /// <summary>True if the key is parked.</summary>
    public bool IsParked { get; private set; }

    /// <summary>Locks the line for an operator.</summary>
    public static async Task<ParkedLine> LockAsync(SqlSession session, string endpoint, string key)
    {
        var line = new ParkedLine(session, endpoint, key);
        line.IsParked =
            await session.FirstAsync<long?>(Find + session.Dialect.ForUpdate, row => row.Long("count"), line.With()) is not null;
        return line;
    }

    /// <summary>Locks the line for the owner of its lane.</summary>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    public static async Task<ParkedLine> LockAsync(SqlSession session, LaneOwner owner, string key)
    {
        var line = new ParkedLine(session, owner.Endpoint, key);
        var sql = $"{Own}{session.Dialect.ForShare}; {Find}{session.Dialect.ForUpdate}";
        await using var found = await session.QueryManyAsync(sql, line.With(("lane", owner.Lane), ("token", owner.Token)));
        if (await found.FirstAsync<long?>(row => row.Long("token")) is null)
            throw LaneErrors.Lost(owner.Endpoint, owner.Lane);
        line.IsParked = await found.FirstAsync<long?>(row => row.Long("count")) is not null;
        return line;
    }

    public Task BeginAsync(DateTimeOffset since, DateTimeOffset? dueAt) =>
        _session.ExecuteAsync(
            "insert into parked_key (endpoint, key_hash, key, since, due_at) values (@endpoint, @hash, @key, @since, @dueAt) on "
                + "conflict (endpoint, key_hash) do nothing",
            With(("key", _key), ("since", since), ("dueAt", dueAt))
        );

    /// <summary>Adds a message at the end, unless it waits already.</summary>
    public async Task AddAsync(ParkedMessage message, IBodyCipher cipher)
    {
        var added = await _session.ExecuteAsync(
            Add,
            StoredEnvelope.Parameters(
                message.Message,
                cipher,
                With(("parkedAt", message.ParkedAt), ("failures", new SqlJson(StoredJson.Of(message.Failures))))
            )
        );
        if (added > 0)
            await _session.ExecuteAsync("update parked_key set count = count + 1 where endpoint = @endpoint and key_hash = @hash", With());
    }

    /// <summary>
    /// Removes messages. If the first was among them and others remain, the key is due, and leased so that no other host releases it
    /// meanwhile.
    /// </summary>
    /// <returns>The number of messages removed, and true if none remain, so that the key is free.</returns>
    public async Task<(long Removed, bool IsFree)> RemoveAsync(IReadOnlyCollection<Guid> messageIds, DateTimeOffset now, TimeSpan lease)
    {
        var removed = await _session.QueryAsync(
            $"delete from parked_message where endpoint = @endpoint and key_hash = @hash and "
                + $"{_session.Dialect.IsOneOf("message_id", "ids")} returning number",
            row => row.Long("number"),
            With(("ids", messageIds.ToArray()))
        );
        var first = await _session.FirstAsync(
            "select min(number) as first from parked_message where endpoint = @endpoint and key_hash = @hash",
            row => row.LongOrNull("first"),
            With()
        );
        if (first is null)
        {
            await _session.ExecuteAsync("delete from parked_key where endpoint = @endpoint and key_hash = @hash", With());
            return (removed.Count, true);
        }

        var wasFirst = removed.Count > 0 && removed.Min() < first;
        var moved = wasFirst ? ", due_at = @dueAt, leased_until = @leased" : "";
        await _session.ExecuteAsync(
            $"update parked_key set count = count - @removed{moved} where endpoint = @endpoint and key_hash = @hash",
            With(("removed", removed.Count), ("dueAt", now), ("leased", now + lease))
        );
        return (removed.Count, false);
    }

    // The attempt releases the line in any case; but a message that an operator has discarded meanwhile does not set its due time.
    public async Task<bool> RescheduleAsync(ParkedMessage message)
    {
        var tried = await _session.ExecuteAsync(
            "update parked_message set attempt = @attempt, failures = @failures where endpoint = @endpoint and key_hash = @hash and "
                + "message_id = @id",
            With(
                ("id", message.Message.Id),
                ("attempt", message.Message.Attempt),
                ("failures", new SqlJson(StoredJson.Of(message.Failures)))
            )
        );
        await _session.ExecuteAsync(
            $"update parked_key set {(tried > 0 ? "due_at = @dueAt, " : "")}leased_until = null where endpoint = @endpoint and "
                + $"key_hash = @hash",
            With(("dueAt", message.DueAt))
        );
        return tried > 0;
    }

    private (string Name, object? Value)[] With(params (string Name, object? Value)[] others) =>
        [("endpoint", _endpoint), ("hash", _hash), .. others];
}
