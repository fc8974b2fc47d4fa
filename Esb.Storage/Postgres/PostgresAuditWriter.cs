using System.Runtime.InteropServices;
using Esb.Core.Audit;
using Esb.Storage.Bodies;
using Npgsql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres;

/// <summary>Inserts audit facts in one round trip and one transaction, whatever their number: a column is an array.</summary>
internal sealed class PostgresAuditWriter(NpgsqlDataSource database, PostgresPartitions partitions)
{
    private const string InsertEvents =
        """
        insert into audit_event (
          id, occurred_at, kind, message_id, conversation_id, caused_by, endpoint, process, step, name, subject, attempt, duration, code, reason, trace_id, party, host, revision,
          fields, headers, content_type, body, body_encoding, body_state, body_length, body_hash)
        select * from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)
        on conflict do nothing
        """;

    private const string InsertFields =
        """
        insert into audit_field (name, value, event_id, occurred_at)
        select * from unnest($1, $2, $3, $4)
        on conflict do nothing
        """;

    public async Task WriteAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        try
        {
            await InsertAsync(facts, cancellationToken);
        }
        catch (PostgresException ex) when (PostgresErrors.IsMissingPartition(ex))
        {
            partitions.Forget(); // dropped by another host, which keeps facts for a shorter time
            await InsertAsync(facts, cancellationToken);
        }
    }

    private async Task InsertAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        await partitions.MakeAsync(facts.Select(fact => PostgresPartitions.DayOf(fact.Time)), cancellationToken);
        await using var batch = database.CreateBatch();
        batch.BatchCommands.Add(Events(facts));
        if (facts.Any(fact => fact.Fields.Count > 0)) batch.BatchCommands.Add(Fields(facts));
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    private static NpgsqlBatchCommand Events(IReadOnlyList<AuditFact> facts)
    {
        var bodies = facts.Select(fact => fact.Body is { } body ? PackedBody.Pack(body) : default(PackedBody?)).ToList();
        return new NpgsqlBatchCommand(InsertEvents)
        {
            Parameters =
            {
                Column(facts, NpgsqlDbType.Uuid, fact => fact.Id),
                Column(facts, NpgsqlDbType.TimestampTz, fact => fact.Time.UtcDateTime),
                Text(facts, fact => fact.Kind.ToString()),
                Column(facts, NpgsqlDbType.Uuid, fact => fact.MessageId),
                Column(facts, NpgsqlDbType.Uuid, fact => fact.ConversationId),
                Column(facts, NpgsqlDbType.Uuid, fact => fact.CausedBy),
                Text(facts, fact => fact.Endpoint),
                Text(facts, fact => fact.Process),
                Text(facts, fact => fact.Step),
                Text(facts, fact => fact.Name),
                Text(facts, fact => fact.Subject),
                Column(facts, NpgsqlDbType.Integer, fact => fact.Attempt),
                Column(facts, NpgsqlDbType.Interval, fact => fact.Duration),
                Text(facts, fact => fact.Code),
                Text(facts, fact => fact.Reason),
                Text(facts, fact => fact.TraceId),
                Text(facts, fact => fact.Party),
                Text(facts, fact => fact.Host),
                Text(facts, fact => fact.Revision),
                Column(facts, NpgsqlDbType.Jsonb, fact => fact.Fields.Count == 0 ? null : PostgresFields.ToJson(fact.Fields)),
                Column(facts, NpgsqlDbType.Jsonb, fact => fact.Headers is null ? null : PostgresFields.ToJson(fact.Headers)),
                Text(facts, fact => fact.ContentType),
                Column(bodies, NpgsqlDbType.Bytea, body => body is { } packed ? ToArray(packed.Bytes) : null),
                Column(bodies, NpgsqlDbType.Text, body => body?.Encoding),
                Text(facts, fact => fact.BodyState?.ToString()),
                Column(facts, NpgsqlDbType.Bigint, fact => fact.BodyLength),
                Column(facts, NpgsqlDbType.Bytea, fact => fact.BodyHash is { } hash ? ToArray(hash) : null),
            },
        };
    }

    private static NpgsqlBatchCommand Fields(IReadOnlyList<AuditFact> facts)
    {
        var fields = facts.SelectMany(fact => fact.Fields.Select(field => (Fact: fact, Indexed: PostgresFields.Indexed(field)))).ToList();
        return new NpgsqlBatchCommand(InsertFields)
        {
            Parameters =
            {
                Column(fields, NpgsqlDbType.Text, field => field.Indexed.Name),
                Column(fields, NpgsqlDbType.Text, field => field.Indexed.Value),
                Column(fields, NpgsqlDbType.Uuid, field => field.Fact.Id),
                Column(fields, NpgsqlDbType.TimestampTz, field => field.Fact.Time.UtcDateTime),
            },
        };
    }

    private static NpgsqlParameter Text(IReadOnlyList<AuditFact> facts, Func<AuditFact, string?> value) =>
        Column(facts, NpgsqlDbType.Text, fact => PostgresText.Clean(value(fact)));

    private static NpgsqlParameter<TValue[]> Column<TRow, TValue>(IReadOnlyList<TRow> rows, NpgsqlDbType type, Func<TRow, TValue> value) => new()
    {
        NpgsqlDbType = NpgsqlDbType.Array | type,
        TypedValue = [.. rows.Select(value)],
    };

    private static byte[] ToArray(ReadOnlyMemory<byte> bytes) =>
        MemoryMarshal.TryGetArray(bytes, out var array) && array.Offset == 0 && array.Count == array.Array!.Length ? array.Array : bytes.ToArray();
}
