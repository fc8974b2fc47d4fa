using System.Security.Cryptography;

namespace Esb.Core.Storage;

/// <summary>The body that an operator wants to send in place of that of a dead letter, which keeps its own.</summary>
/// <param name="MessageId">The id of the message that a replay sends; another one for each edit.</param>
/// <param name="Body">The body.</param>
/// <param name="ContentType">Its media type; null for that of the letter.</param>
/// <param name="At">Time of the edit.</param>
/// <param name="By">The operator.</param>
/// <param name="Reason">The reason; null if none was given.</param>
public sealed record LetterEdit(
    Guid MessageId,
    ReadOnlyMemory<byte> Body,
    string? ContentType,
    DateTimeOffset At,
    string By,
    string? Reason
)
{
    /// <summary>The SHA-256 of a body, in lower-case hexadecimal digits.</summary>
    public static string DigestOf(ReadOnlyMemory<byte> body) => Convert.ToHexStringLower(SHA256.HashData(body.Span));
}
