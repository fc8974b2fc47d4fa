using Dapper;
using Esb.Core.Storage;
using Npgsql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres.Parking;

/// <summary>The line of one key within a transaction that holds its lock: until the commit nobody else changes it.</summary>
internal sealed class PostgresLine
{
    private const string Lock = "select count from parked_key where endpoint = @endpoint and key_hash = @hash for update";

    // Whoever takes the lane over waits for the transactions that still were allowed to.
    private const string Own = "select token from lane_owner where endpoint = @endpoint and lane = @lane and token = @token for share;";

    private const string Begin =
        """
        insert into parked_key (endpoint, key_hash, key, since, due_at) values (@endpoint, @hash, @key, @since, @dueAt) on conflict (endpoint, key_hash) do nothing
        """;

    private const string Add =
        """
        with added as (
          insert into parked_message (endpoint, key_hash, message_id, conversation_id, subject, content_type, correlation_id, key, party, created_at, attempt, headers, body, parked_at, failures)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
          on conflict (endpoint, key_hash, message_id) do nothing
          returning 1)
        update parked_key set count = count + (select count(*) from added) where endpoint = $1 and key_hash = $2
        """;

    private const string Remove =
        """
        with gone as (delete from parked_message where endpoint = @endpoint and key_hash = @hash and message_id = any(@ids) returning number),
        moved as (select (select min(number) from parked_message where endpoint = @endpoint and key_hash = @hash) in (select number from gone) as first),
        left_over as (
          update parked_key set count = count - (select count(*) from gone),
            (due_at, leased_until) = (select case when first then @dueAt else due_at end, case when first then @leased else leased_until end from moved)
          where endpoint = @endpoint and key_hash = @hash
          returning count)
        select (select count(*) from gone) as Gone, coalesce((select count from left_over), 0) as Left
        """;

    private readonly NpgsqlConnection _connection;
    private readonly string _endpoint;
    private readonly string _key;
    private readonly byte[] _hash;
    private readonly CancellationToken _cancellationToken;

    private PostgresLine(NpgsqlConnection connection, string endpoint, string key, CancellationToken cancellationToken)
    {
        (_connection, _endpoint, _key, _cancellationToken) = (connection, endpoint, key, cancellationToken);
        _hash = KeyHash.Of(key);
    }

    /// <summary>Whether the key is parked.</summary>
    public bool IsParked { get; private set; }

    /// <summary>Locks the line for an operator.</summary>
    public static async Task<PostgresLine> LockAsync(NpgsqlConnection connection, string endpoint, string key, CancellationToken cancellationToken)
    {
        var line = new PostgresLine(connection, endpoint, key, cancellationToken);
        line.IsParked = await connection.ExecuteScalarAsync<long?>(line.Command(Lock)) is not null;
        return line;
    }

    /// <summary>Locks the line for the owner of its lane.</summary>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    public static async Task<PostgresLine> LockAsync(NpgsqlConnection connection, LaneOwner owner, string key, CancellationToken cancellationToken)
    {
        var line = new PostgresLine(connection, owner.Endpoint, key, cancellationToken);
        await using var found = await connection.QueryMultipleAsync(line.Command(Own + Lock, new { lane = owner.Lane, token = owner.Token }));
        if (await found.ReadSingleOrDefaultAsync<long?>() is null) throw LaneErrors.Lost(owner.Endpoint, owner.Lane);
        line.IsParked = await found.ReadSingleOrDefaultAsync<long?>() is not null;
        return line;
    }

    public Task BeginAsync(DateTimeOffset since, DateTimeOffset? dueAt) =>
        _connection.ExecuteAsync(Command(Begin, new { key = PostgresText.Clean(_key), since = since.UtcDateTime, dueAt = dueAt?.UtcDateTime }));

    /// <summary>Adds a message at the end, unless it waits already.</summary>
    public async Task AddAsync(ParkedMessage message)
    {
        var row = PostgresParkedRow.From(message);
        await using var command = new NpgsqlCommand(Add, _connection);
        var parameters = command.Parameters;
        AddText(_endpoint);
        parameters.Add(new NpgsqlParameter<byte[]> { TypedValue = _hash });
        parameters.Add(new NpgsqlParameter<Guid> { TypedValue = row.Id });
        parameters.Add(new NpgsqlParameter<Guid> { TypedValue = row.ConversationId });
        AddText(row.Subject);
        AddText(row.ContentType);
        AddText(row.CorrelationId);
        AddText(row.Key);
        AddText(row.Party);
        parameters.Add(new NpgsqlParameter<DateTime> { TypedValue = row.CreatedAt });
        parameters.Add(new NpgsqlParameter<int> { TypedValue = row.Attempt });
        parameters.Add(new NpgsqlParameter<string> { TypedValue = row.Headers, NpgsqlDbType = NpgsqlDbType.Jsonb });
        parameters.Add(new NpgsqlParameter<byte[]> { TypedValue = row.Body });
        parameters.Add(new NpgsqlParameter<DateTime> { TypedValue = row.ParkedAt });
        parameters.Add(new NpgsqlParameter<string> { TypedValue = row.Failures, NpgsqlDbType = NpgsqlDbType.Jsonb });
        await command.ExecuteNonQueryAsync(_cancellationToken);

        void AddText(string? text) => parameters.Add(new NpgsqlParameter { Value = text ?? (object)DBNull.Value, NpgsqlDbType = NpgsqlDbType.Text });
    }

    /// <summary>Removes messages; where the first was among them and others are left, the key is due, and nobody else releases it for some time.</summary>
    /// <returns>How many there were, and whether none is left, and so the key is free.</returns>
    public async Task<(long Removed, bool IsFree)> RemoveAsync(IReadOnlyCollection<Guid> messageIds, DateTimeOffset now, TimeSpan lease)
    {
        var times = new { ids = messageIds.ToArray(), dueAt = now.UtcDateTime, leased = (now + lease).UtcDateTime };
        var (removed, left) = await _connection.QuerySingleAsync<(long Gone, long Left)>(Command(Remove, times));
        if (left > 0) return (removed, false);
        await _connection.ExecuteAsync(Command("delete from parked_key where endpoint = @endpoint and key_hash = @hash"));
        return (removed, true);
    }

    // Whoever tried is done with the line in any case; but when it is due is not for a message to say that an operator has discarded meanwhile.
    public Task RescheduleAsync(ParkedMessage message) => _connection.ExecuteAsync(Command(
        """
        with tried as (
          update parked_message set attempt = @attempt, failures = @failures::jsonb where endpoint = @endpoint and key_hash = @hash and message_id = @id
          returning 1)
        update parked_key set due_at = case when exists (select from tried) then @dueAt else due_at end, leased_until = null
        where endpoint = @endpoint and key_hash = @hash
        """,
        new { id = message.Message.Id, attempt = message.Message.Attempt, failures = PostgresParkedRow.ToJson(message.Failures), dueAt = message.DueAt?.UtcDateTime }));

    private CommandDefinition Command(string sql, object? more = null)
    {
        var parameters = new DynamicParameters(more);
        parameters.Add("endpoint", _endpoint);
        parameters.Add("hash", _hash);
        return new CommandDefinition(sql, parameters, cancellationToken: _cancellationToken);
    }
}
