using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Sql;

/// <summary>The columns of a message, in each table that keeps messages.</summary>
internal static class StoredEnvelope
{
    public const string Columns = "message_id, conversation_id, subject, content_type, correlation_id, key, party, created_at, attempt, headers, body";

    public const string Values =
        "@message_id, @conversation_id, @subject, @content_type, @correlation_id, @key, @party, @created_at, @attempt, @headers, @body";

    /// <summary>The parameters of <see cref="Values"/>, and others.</summary>
    public static (string Name, object? Value)[] Parameters(EsbMessage message, IBodyCipher cipher, params (string Name, object? Value)[] others) =>
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
        ("body", cipher.Seal(message.Body.Bytes, message.Id)),
        .. others,
    ];

    public static EsbMessage Read(SqlRow row, IBodyCipher cipher) => new()
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
