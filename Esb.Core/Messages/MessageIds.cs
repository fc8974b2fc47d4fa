using System.Security.Cryptography;
using System.Text;

namespace Esb.Core.Messages;

/// <summary>Deterministic ids, so that a repetition is recognised.</summary>
public static class MessageIds
{
    /// <summary>Id of a message that follows from another: derived from its id, the step that creates it and the step's position.</summary>
    public static Guid Derive(Guid origin, string step)
    {
        // The whole step is hashed: positions deep inside one process differ at their end.
        var bytes = new byte[16 + Encoding.UTF8.GetByteCount(step)];
        origin.TryWriteBytes(bytes, bigEndian: true, out _);
        Encoding.UTF8.GetBytes(step, bytes.AsSpan(16));
        return FromHash(bytes);
    }

    /// <summary>Id of a foreign message: its own if that is a UUID, otherwise a hash of it and the topic.</summary>
    public static Guid FromForeign(string foreignId, string topic) =>
        Guid.TryParse(foreignId, out var id) ? id : FromHash(Encoding.UTF8.GetBytes($"{topic}\n{foreignId}"));

    // A version 8 UUID (RFC 9562, section 5.8): all bits but version and variant are ours.
    private static Guid FromHash(ReadOnlySpan<byte> bytes)
    {
        Span<byte> hash = stackalloc byte[32];
        SHA256.HashData(bytes, hash);
        hash[6] = (byte)((hash[6] & 0x0F) | 0x80);
        hash[8] = (byte)((hash[8] & 0x3F) | 0x80);
        return new Guid(hash[..16], bigEndian: true);
    }
}
