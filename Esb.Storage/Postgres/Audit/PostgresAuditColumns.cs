using System.Runtime.InteropServices;
using Esb.Core.Audit;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres.Evidence;
using Esb.Storage.Sql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres.Audit;

/// <summary>The columns of <c>audit_event</c>, and the part of a fact that each holds.</summary>
internal static class PostgresAuditColumns
{
    public static readonly IReadOnlyList<PostgresAuditColumn> All =
    [
        Of("id", NpgsqlDbType.Uuid, fact => fact.Id),
        Of("occurred_at", NpgsqlDbType.TimestampTz, fact => fact.Time.UtcDateTime),
        Text("kind", fact => fact.Kind.ToString()),
        Of("message_id", NpgsqlDbType.Uuid, fact => fact.MessageId),
        Of("conversation_id", NpgsqlDbType.Uuid, fact => fact.ConversationId),
        Of("caused_by", NpgsqlDbType.Uuid, fact => fact.CausedBy),
        Text("endpoint", fact => fact.Endpoint),
        Text("process", fact => fact.Process),
        Text("step", fact => fact.Step),
        Text("name", fact => fact.Name),
        Text("subject", fact => fact.Subject),
        Of("attempt", NpgsqlDbType.Integer, fact => fact.Attempt),
        Of("duration", NpgsqlDbType.Interval, fact => fact.Duration),
        Text("code", fact => fact.Code),
        Text("reason", fact => fact.Reason),
        Text("trace_id", fact => fact.TraceId),
        Text("party", fact => fact.Party),
        Text("host", fact => fact.Host),
        Text("revision", fact => fact.Revision),
        Of("fields", NpgsqlDbType.Jsonb, fact => fact.Fields.Count == 0 ? null : StoredJson.Of(fact.Fields)),
        Of("headers", NpgsqlDbType.Jsonb, fact => fact.Headers is null ? null : StoredJson.Of(fact.Headers)),
        Text("content_type", fact => fact.ContentType),
        Text("body_state", fact => fact.BodyState?.ToString()),
        Of("body_length", NpgsqlDbType.Bigint, fact => fact.BodyLength),
        Of("body_hash", NpgsqlDbType.Bytea, fact => ToArray(fact.BodyHash)),
        Beside("body", NpgsqlDbType.Bytea, row => ToArray(row.Sealed.Body?.Bytes)),
        Beside("body_encoding", NpgsqlDbType.Text, row => row.Sealed.Body?.Encoding),
        Beside("body_digest", NpgsqlDbType.Bytea, row => row.Sealed.BodyDigest),
        Beside("chain", NpgsqlDbType.Uuid, row => row.Chain),
        Beside("number", NpgsqlDbType.Bigint, row => row.Head?.Number),
        Beside("link", NpgsqlDbType.Bytea, row => row.Head?.Link),
    ];

    public static readonly string Names = string.Join(", ", All.Select(column => column.Name));

    /// <summary>The columns as selected from rows called <c>fact</c>, without bodies that were erased before they arrived.</summary>
    public static readonly string Taken = string.Join(
        ", ",
        All.Select(column => column.Name == "body" ? PostgresErasures.BodyUnlessErased : column.Name)
    );

    private static PostgresAuditColumn<T> Of<T>(string name, NpgsqlDbType type, Func<AuditFact, T> value) =>
        new(name, type, row => value(row.Sealed.Fact));

    private static PostgresAuditColumn<string?> Text(string name, Func<AuditFact, string?> value) =>
        Of(name, NpgsqlDbType.Text, fact => SqlText.Clean(value(fact)));

    private static PostgresAuditColumn<T> Beside<T>(string name, NpgsqlDbType type, Func<ChainedFact, T> value) => new(name, type, value);

    private static byte[]? ToArray(ReadOnlyMemory<byte>? bytes)
    {
        if (bytes is not { } memory)
            return null;
        return MemoryMarshal.TryGetArray(memory, out var array) && array.Offset == 0 && array.Count == array.Array!.Length
            ? array.Array
            : memory.ToArray();
    }
}
