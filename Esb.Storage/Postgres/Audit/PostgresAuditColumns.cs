using System.Runtime.InteropServices;
using Esb.Storage.Postgres.Evidence;
using Esb.Storage.Sql;
using NpgsqlTypes;

namespace Esb.Storage.Postgres.Audit;

/// <summary>The columns of <c>audit_event</c>, and the value that each takes from a row.</summary>
internal static class PostgresAuditColumns
{
    public static readonly IReadOnlyList<PostgresAuditColumn> All =
    [
        Of("id", NpgsqlDbType.Uuid, row => row.Fact.Id),
        Of("occurred_at", NpgsqlDbType.TimestampTz, row => row.Fact.Time.UtcDateTime),
        Text("kind", row => row.Fact.Kind.ToString()),
        Of("message_id", NpgsqlDbType.Uuid, row => row.Fact.MessageId),
        Of("conversation_id", NpgsqlDbType.Uuid, row => row.Fact.ConversationId),
        Of("caused_by", NpgsqlDbType.Uuid, row => row.Single?.Sealed.Fact.CausedBy),
        Text("endpoint", row => row.Fact.Endpoint),
        Text("process", row => row.Fact.Process),
        Text("step", row => row.Single?.Sealed.Fact.Step),
        Text("name", row => row.Single?.Sealed.Fact.Name),
        Text("subject", row => row.Single?.Sealed.Fact.Subject),
        Of("attempt", NpgsqlDbType.Integer, row => row.Single?.Sealed.Fact.Attempt ?? 0),
        Of("duration", NpgsqlDbType.Interval, row => row.Single?.Sealed.Fact.Duration),
        Text("code", row => row.Single?.Sealed.Fact.Code),
        Text("reason", row => row.Single?.Sealed.Fact.Reason),
        Text("trace_id", row => row.Fact.TraceId),
        Text("party", row => row.Fact.Party),
        Text("host", row => row.Fact.Host),
        Text("revision", row => row.Fact.Revision),
        Of("fields", NpgsqlDbType.Jsonb, row => row.Fields.Count > 0 ? StoredJson.Of(row.Fields) : null),
        Of("headers", NpgsqlDbType.Jsonb, row => row.Single?.Sealed.Fact.Headers is { } headers ? StoredJson.Of(headers) : null),
        Text("content_type", row => row.Single?.Sealed.Fact.ContentType),
        Text("body_state", row => row.Single?.Sealed.Fact.BodyState?.ToString()),
        Of("body_length", NpgsqlDbType.Bigint, row => row.Single?.Sealed.Fact.BodyLength),
        Of("body_hash", NpgsqlDbType.Bytea, row => ToArray(row.Single?.Sealed.Fact.BodyHash)),
        Of("body", NpgsqlDbType.Bytea, row => ToArray(row.Body)),
        Of("body_encoding", NpgsqlDbType.Text, row => row.Single?.Sealed.Body?.Encoding),
        Of("body_digest", NpgsqlDbType.Bytea, row => row.Single?.Sealed.BodyDigest),
        Of("chain", NpgsqlDbType.Uuid, row => row.Last.Chain),
        Of("number", NpgsqlDbType.Bigint, row => row.Facts[0].Head?.Number),
        Of("link", NpgsqlDbType.Bytea, row => row.Last.Head?.Link),
        Of("first_id", NpgsqlDbType.Uuid, row => row.Single is null ? row.Facts[0].Sealed.Fact.Id : (Guid?)null),
        Of(
            "part_kinds",
            NpgsqlDbType.Integer,
            row => row.Single is null ? PostgresFactGroups.KindsOf(row.Facts.Select(fact => fact.Sealed.Fact)) : (int?)null
        ),
        Of("parts", NpgsqlDbType.Bytea, row => row.Parts),
    ];

    public static readonly string Names = string.Join(", ", All.Select(column => column.Name));

    /// <summary>The columns as selected from rows called <c>fact</c>, without bodies that were erased before they arrived.</summary>
    public static readonly string Taken = string.Join(
        ", ",
        All.Select(column => column.Name == "body" ? PostgresErasures.BodyUnlessErased : column.Name)
    );

    private static PostgresAuditColumn<T> Of<T>(string name, NpgsqlDbType type, Func<PostgresFactRow, T> value) => new(name, type, value);

    private static PostgresAuditColumn<string?> Text(string name, Func<PostgresFactRow, string?> value) =>
        Of(name, NpgsqlDbType.Text, row => SqlText.Clean(value(row)));

    private static byte[]? ToArray(ReadOnlyMemory<byte>? bytes)
    {
        if (bytes is not { } memory)
            return null;
        return MemoryMarshal.TryGetArray(memory, out var array) && array.Offset == 0 && array.Count == array.Array!.Length
            ? array.Array
            : memory.ToArray();
    }
}
