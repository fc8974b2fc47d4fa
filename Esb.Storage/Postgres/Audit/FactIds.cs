using System.Buffers.Binary;

namespace Esb.Storage.Postgres.Audit;

/// <summary>Ids of facts as times: version 7 UUIDs begin with the milliseconds since 1970.</summary>
internal static class FactIds
{
    /// <summary>The smallest id of a time plus an offset.</summary>
    public static Guid FirstOf(DateTimeOffset time, TimeSpan later)
    {
        Span<byte> bytes = stackalloc byte[16];
        bytes.Clear();
        BinaryPrimitives.WriteInt64BigEndian(bytes, Math.Max(time.ToUnixTimeMilliseconds() + (long)later.TotalMilliseconds, 0) << 16);
        return new Guid(bytes, bigEndian: true);
    }

    /// <summary>The time of an id; null if it holds none that is valid.</summary>
    public static DateTimeOffset? TimeOf(Guid id)
    {
        Span<byte> bytes = stackalloc byte[16];
        id.TryWriteBytes(bytes, bigEndian: true, out _);
        var milliseconds = (long)(BinaryPrimitives.ReadUInt64BigEndian(bytes) >> 16);
        return milliseconds > DateTimeOffset.MaxValue.ToUnixTimeMilliseconds()
            ? null
            : DateTimeOffset.FromUnixTimeMilliseconds(milliseconds);
    }
}
