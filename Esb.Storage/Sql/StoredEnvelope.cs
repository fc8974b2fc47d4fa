using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Sql;

/// <summary>The columns of a message, in each table that keeps messages.</summary>
internal static class StoredEnvelope
{
    public const string Columns =
        "message_id, conversation_id, subject, content_type, correlation_id, key, party, created_at, attempt, headers, body";

    public const string Values =
        "@message_id, @conversation_id, @subject, @content_type, @correlation_id, @key, @party, @created_at, @attempt, @headers, @body";

    /// <summary>The parameters of <see cref="Values"/>, and others.</summary>
    public static (string Name, object? Value)[] Parameters(
        EsbMessage message,
        IBodyCipher cipher,
        params (string Name, object? Value)[] others
    ) =>
        [
            ("message_id", message.Id),
            ("conversation_id", message.ConversationId),
            ("subject", message.Subject),
            ("content_type", message.ContentType),
            ("correlation_id", message.CorrelationId),
            ("key", message.Key),
            ("party", message.Party),
            ("created_at", message.CreatedAt),
            ("attempt", message.Attempt),
            ("headers", new SqlJson(StoredJson.Of(message.Headers))),
            ("body", cipher.Seal(BodyOf(message), message.Id)),
            .. others,
        ];

    /// <summary>The columns of rows with messages, each with a prefix.</summary>
    public static IEnumerable<(string Column, SqlType Type, Func<T, object?> Value)> ColumnsOf<T>(
        string prefix,
        IBodyCipher cipher,
        Func<T, EsbMessage> message
    ) =>
        [
            ($"{prefix}_message_id", SqlType.Id, row => message(row).Id),
            ($"{prefix}_conversation_id", SqlType.Id, row => message(row).ConversationId),
            ($"{prefix}_subject", SqlType.Text, row => message(row).Subject),
            ($"{prefix}_content_type", SqlType.Text, row => message(row).ContentType),
            ($"{prefix}_correlation_id", SqlType.Text, row => message(row).CorrelationId),
            ($"{prefix}_key", SqlType.Text, row => message(row).Key),
            ($"{prefix}_party", SqlType.Text, row => message(row).Party),
            ($"{prefix}_created_at", SqlType.Time, row => message(row).CreatedAt),
            ($"{prefix}_attempt", SqlType.Number, row => message(row).Attempt),
            ($"{prefix}_headers", SqlType.Json, row => new SqlJson(StoredJson.Of(message(row).Headers))),
            ($"{prefix}_body", SqlType.Bytes, row => cipher.Seal(BodyOf(message(row)), message(row).Id)),
        ];

    // A body that is not in memory has a reference in the headers.
    private static ReadOnlyMemory<byte> BodyOf(EsbMessage message) => message.Body.IsBuffered ? message.Body.Bytes : default;

    /// <summary>Selects the columns of <see cref="ColumnsOf"/> in the order of <see cref="Columns"/>.</summary>
    public static string SelectOf(string prefix) => string.Join(", ", Columns.Split(", ").Select(column => $"{prefix}_{column}"));

    public static EsbMessage Read(SqlRow row, IBodyCipher cipher) =>
        new()
        {
            Id = row.Id("message_id"),
            ConversationId = row.Id("conversation_id"),
            Subject = row.Text("subject"),
            ContentType = row.TextOrNull("content_type"),
            CorrelationId = row.TextOrNull("correlation_id"),
            Key = row.TextOrNull("key"),
            Party = row.TextOrNull("party"),
            CreatedAt = row.Time("created_at"),
            Attempt = row.Int("attempt"),
            Headers = MessageHeaders.From(row.Fields("headers")),
            Body = MessageBody.FromBytes(cipher.Open(row.Bytes("body"), row.Id("message_id"))),
        };
}
