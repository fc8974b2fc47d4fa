using System.Data.Common;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Npgsql;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>A message in the outbox.</summary>
/// <param name="Position">Its position; for one key, in the order of the commits.</param>
/// <param name="CreatedAt">The time of insertion, which identifies its partition.</param>
/// <param name="KeyHash">Its key as a number; null if it has none.</param>
/// <param name="Outgoing">The message.</param>
internal sealed record OutboxRow(long Position, DateTime CreatedAt, long? KeyHash, OutgoingMessage Outgoing);

/// <summary>The outbox of one bus in one database. Thread-safe; each call uses the given connection.</summary>
/// <param name="bus">The configuration's name: hosts of another configuration in the same database have other topics.</param>
/// <param name="cipher">Encrypts the bodies.</param>
internal sealed class OutboxTable(string bus, IBodyCipher cipher)
{
    private const int BatchRows = 100;
    private const int BatchBytes = 4 * 1024 * 1024;

    // Held until the commit: of two transactions that publish under one key, the first to commit has the lower position. Only the insert
    // and the commit follow, so that this lock cannot be part of a deadlock.
    private const string LockKeys = """
        select pg_advisory_xact_lock(hash) from (
          select distinct hashtextextended('esb outbox key of ' || $1, key_hash) as hash from unnest($2) as key_hash where key_hash is not
            null order by hash) as hashes
        """;

    private const string Insert = """
        insert into esb.transaction_outbox (bus, lane, key_hash, message_id, subject, envelope, body)
        select $1, lane, key_hash, message_id, subject, envelope, body
        from unnest($2, $3, $4, $5, $6, $7) with ordinality as message (lane, key_hash, message_id, subject, envelope, body, number)
        order by number
        """;

    private const string FindLanes =
        "select lane from generate_series(0, 15) as lane where exists (select from esb.transaction_outbox waiting where waiting.bus "
        + "= $1 and waiting.lane = lane.lane)";

    // A frozen or disconnected host would hold the lane as long as its connection lasts, so the server ends a silent transaction.
    private const string LockLane = """
        select pg_try_advisory_xact_lock(hashtextextended('esb outbox lane of ' || $1, $2)), current_setting('transaction_read_only')::bool,
          set_config('idle_in_transaction_session_timeout', '30s', true)
        """;

    private const string FindFirst = "select position from esb.transaction_outbox where bus = $1 and lane = $2 order by position limit 1";

    private const string SayWord = "select 1";

    // Up to a number of rows and of bytes, and at least one row.
    private const string ReadLane = """
        select position, created_at, key_hash, message_id, subject, envelope, body
        from (
          select *, sum(octet_length(body)) over (order by position) - octet_length(body) as bytes_before
          from (
            select * from esb.transaction_outbox
            where bus = $1 and lane = $2 and position <> all ($3) and (key_hash is null or key_hash <> all ($4))
            order by position limit $5) as batch) as sized
        where bytes_before < $6
        order by position
        """;

    private const string Delete = "delete from esb.transaction_outbox where position = any ($1) and created_at between $2 and $3";

    private const string Measure =
        "select count(*), extract(epoch from clock_timestamp() - min(created_at))::float8 from esb.transaction_outbox where bus = $1";

    /// <summary>Raised after a commit, with the lanes that have new messages.</summary>
    public event Action<IReadOnlyCollection<short>>? Filled;

    /// <summary>Adds messages in order, as the last step before the commit.</summary>
    /// <returns>The lanes of the messages.</returns>
    public async Task<IReadOnlyCollection<short>> AddAsync(
        DbConnection connection,
        IReadOnlyList<OutgoingMessage> messages,
        CancellationToken cancellationToken
    )
    {
        var hashes = messages.Select(message => OutboxLanes.HashOf(message.Message)).ToArray();
        var lanes = messages.Select((message, index) => OutboxLanes.LaneOf(message.Message, hashes[index])).ToArray();
        await using var batch = new NpgsqlBatch((NpgsqlConnection)connection);
        batch.BatchCommands.Add(Command(LockKeys, bus, hashes));
        batch.BatchCommands.Add(
            Command(
                Insert,
                bus,
                lanes,
                hashes,
                messages.Select(message => message.Message.Id).ToArray(),
                messages.Select(message => message.Message.Subject).ToArray(),
                messages.Select(OutboxEnvelope.Write).ToArray(),
                messages.Select(message => cipher.Seal(message.Message.Body.Bytes, message.Message.Id).ToArray()).ToArray()
            )
        );
        await batch.ExecuteNonQueryAsync(cancellationToken);
        return lanes.Distinct().ToList();
    }

    /// <summary>Signals that the messages added to these lanes are committed.</summary>
    public void Committed(IReadOnlyCollection<short> lanes) => Filled?.Invoke(lanes);

    /// <summary>Finds the lanes that have messages.</summary>
    public async Task<IReadOnlyCollection<short>> FindLanesAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        var lanes = new List<short>();
        await using var batch = Batch(connection, Command(FindLanes, bus));
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken);
        while (await reader.ReadAsync(cancellationToken))
            lanes.Add((short)reader.GetInt32(0));
        return lanes;
    }

    /// <summary>Takes a lane for the transaction of the connection, unless another host holds it. Also reports a read-only connection, on
    /// which nothing can be deleted: a standby grants locks and rows as well.</summary>
    public async Task<(bool IsTaken, bool IsReadOnly)> TryLockAsync(
        DbConnection connection,
        short lane,
        CancellationToken cancellationToken
    )
    {
        await using var batch = Batch(connection, Command(LockLane, bus, (long)lane));
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return (reader.GetBoolean(0), reader.GetBoolean(1));
    }

    /// <summary>Keeps a held lane: after 30 s of silence the lane and the connection are lost.</summary>
    public static async Task KeepAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        await using var batch = Batch(connection, Command(SayWord));
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Returns the position of the first message of a lane; null if none waits.</summary>
    public async Task<long?> FindFirstAsync(DbConnection connection, short lane, CancellationToken cancellationToken)
    {
        await using var batch = Batch(connection, Command(FindFirst, bus, lane));
        return (long?)await batch.ExecuteScalarAsync(cancellationToken);
    }

    /// <summary>Reads the first messages of a lane.</summary>
    /// <param name="connection">The connection whose transaction holds the lane.</param>
    /// <param name="lane">The lane.</param>
    /// <param name="skip">The positions and keys to skip.</param>
    /// <param name="cancellationToken">Cancels reading.</param>
    public async Task<IReadOnlyList<OutboxRow>> ReadAsync(
        DbConnection connection,
        short lane,
        (long[] Positions, long[] Keys) skip,
        CancellationToken cancellationToken
    )
    {
        var rows = new List<OutboxRow>();
        await using var batch = Batch(connection, Command(ReadLane, bus, lane, skip.Positions, skip.Keys, BatchRows, BatchBytes));
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken);
        while (await reader.ReadAsync(cancellationToken))
        {
            var body = cipher.Open(reader.GetFieldValue<byte[]>(6), reader.GetGuid(3));
            var outgoing = OutboxEnvelope.Read(reader.GetString(5), reader.GetGuid(3), reader.GetString(4), body);
            rows.Add(
                new OutboxRow(
                    reader.GetInt64(0),
                    reader.GetDateTime(1),
                    await reader.IsDBNullAsync(2, cancellationToken) ? null : reader.GetInt64(2),
                    outgoing
                )
            );
        }

        return rows;
    }

    /// <summary>Deletes published messages.</summary>
    public static async Task DeleteAsync(DbConnection connection, IReadOnlyCollection<OutboxRow> rows, CancellationToken cancellationToken)
    {
        if (rows.Count == 0)
            return;
        var positions = rows.Select(row => row.Position).ToArray();
        await using var batch = Batch(
            connection,
            Command(Delete, positions, rows.Min(row => row.CreatedAt), rows.Max(row => row.CreatedAt))
        );
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Returns the number of waiting messages, and the age of the oldest.</summary>
    public async Task<(long Waiting, TimeSpan? OldestAge)> MeasureAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        await using var batch = Batch(connection, Command(Measure, bus));
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return (reader.GetInt64(0), await reader.IsDBNullAsync(1, cancellationToken) ? null : TimeSpan.FromSeconds(reader.GetDouble(1)));
    }

    private static NpgsqlBatch Batch(DbConnection connection, NpgsqlBatchCommand command) =>
        new((NpgsqlConnection)connection) { BatchCommands = { command } };

    private static NpgsqlBatchCommand Command(string text, params ReadOnlySpan<object> values)
    {
        var command = new NpgsqlBatchCommand(text);
        foreach (var value in values)
            command.Parameters.Add(new NpgsqlParameter { Value = value });
        return command;
    }
}
