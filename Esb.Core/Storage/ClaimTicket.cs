using System.Security.Cryptography;
using Esb.Core.Messages;

namespace Esb.Core.Storage;

/// <summary>Reference to a body stored elsewhere, as <c>{id}.{SHA-256 in hexadecimal}</c>. A holder may read the body: a ticket cannot be
/// guessed.</summary>
/// <param name="Id">A version 7 UUID, which holds the time of storage.</param>
/// <param name="Hash">The SHA-256 of the body, 64 lower-case hexadecimal digits.</param>
public sealed record ClaimTicket(Guid Id, string Hash)
{
    private const int IdLength = 36;
    private const int HashLength = 64;

    private static readonly long Latest = DateTimeOffset.MaxValue.ToUnixTimeMilliseconds();

    /// <summary>Time of storage, to the millisecond.</summary>
    public DateTimeOffset KeptAt => TimeOf(Id);

    /// <summary>The time that an id holds.</summary>
    public static DateTimeOffset TimeOf(Guid id) => DateTimeOffset.FromUnixTimeMilliseconds(Milliseconds(id));

    /// <summary>Creates a ticket for a body that is about to be stored.</summary>
    public static ClaimTicket For(ReadOnlyMemory<byte> body, TimeProvider time) => new(Guid.CreateVersion7(time.GetUtcNow()), HashOf(body));

    /// <summary>Creates a ticket for a body that was stored under an id.</summary>
    /// <param name="id">A version 7 UUID.</param>
    /// <param name="digest">The SHA-256 of the body.</param>
    public static ClaimTicket For(Guid id, ReadOnlySpan<byte> digest) => new(id, Convert.ToHexStringLower(digest));

    /// <summary>Parses a ticket; null if malformed. External systems write tickets too, with times outside the calendar.</summary>
    public static ClaimTicket? Parse(string text) =>
        text.Length == IdLength + 1 + HashLength
        && text[IdLength] == '.'
        && Guid.TryParseExact(text[..IdLength], "D", out var id)
        && id.Version == 7
        && Milliseconds(id) <= Latest
        && text[(IdLength + 1)..].All(char.IsAsciiHexDigitLower)
            ? new ClaimTicket(id, text[(IdLength + 1)..])
            : null;

    /// <summary>Returns the data found under the id if it is the body; null if nothing was found, or other data.</summary>
    public MessageBody? Redeem(byte[]? found) => found is not null && HashOf(found) == Hash ? MessageBody.FromBytes(found) : null;

    /// <inheritdoc/>
    public override string ToString() => $"{Id:D}.{Hash}";

    private static string HashOf(ReadOnlyMemory<byte> body) => Convert.ToHexStringLower(SHA256.HashData(body.Span));

    // RFC 9562, section 5.7: the first 48 bits.
    private static long Milliseconds(Guid id)
    {
        Span<byte> bytes = stackalloc byte[16];
        id.TryWriteBytes(bytes, bigEndian: true, out _);
        return (long)(System.Buffers.Binary.BinaryPrimitives.ReadUInt64BigEndian(bytes) >> 16);
    }
}
