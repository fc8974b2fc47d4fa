using System.Security.Cryptography;
using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.Audit.Recording;

/// <summary>Puts a body into a fact: masked, cut to what is recorded of one, with the length and the hash of all of it. The bytes are those
/// of the message, not a copy.</summary>
internal static class RecordedBody
{
    /// <param name="fact">The fact.</param>
    /// <param name="message">The message.</param>
    /// <param name="masked">The message as it may be recorded.</param>
    /// <param name="maxBytes">The most that is recorded of a body.</param>
    public static AuditFact Put(AuditFact fact, EsbMessage message, MaskedMessage masked, long maxBytes)
    {
        if (!message.Body.IsBuffered)
            return masked.State == AuditBodyState.Withheld ? fact with { BodyState = masked.State } : fact;
        if (masked.State == AuditBodyState.Withheld)
            return fact with
            {
                ContentType = message.ContentType,
                BodyState = masked.State,
                BodyLength = message.Body.Length,
                BodyHash = HashOf(message.Body),
            };

        var body = masked.Message.Body;
        var isCut = body.Bytes.Length > maxBytes;
        return fact with
        {
            ContentType = message.ContentType,
            Body = isCut ? body.Bytes[..(int)maxBytes] : body.Bytes,
            BodyState = isCut && masked.State == AuditBodyState.Whole ? AuditBodyState.Truncated : masked.State,
            BodyLength = body.Length,
            BodyHash = HashOf(body),
        };
    }

    // The same body is received, published and delivered: it is hashed once.
    private static ReadOnlyMemory<byte> HashOf(MessageBody body) =>
        body.View(static bytes => new Digest(SHA256.HashData(bytes.Span))).Sha256;

    private sealed record Digest(byte[] Sha256);
}
