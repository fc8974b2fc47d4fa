using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Esb.Core.Messages;

namespace Esb.Endpoints.Sql.Outbox;

/// <summary>Assigns messages to the lanes of an outbox: all messages of one key to the same lane, at every host and in every version of
/// this program.</summary>
internal static class OutboxLanes
{
    public const int Count = 16;

    /// <summary>Returns the key as a number; null if the message has none.</summary>
    public static long? HashOf(EsbMessage message) =>
        message.Key is null ? null : BinaryPrimitives.ReadInt64BigEndian(SHA256.HashData(Encoding.UTF8.GetBytes(message.Key)));

    /// <summary>Returns the lane of the key, or of the message itself if it has no key.</summary>
    public static short LaneOf(EsbMessage message, long? keyHash)
    {
        if (keyHash is { } hash)
            return (short)(hash & (Count - 1));
        Span<byte> id = stackalloc byte[16];
        message.Id.TryWriteBytes(id);
        return (short)(id[15] & (Count - 1));
    }
}
