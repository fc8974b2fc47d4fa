using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.InteropServices;

namespace Esb.Storage.Segments;

/// <summary>How a record lies in a segment: a mark, its length, a CRC-32C of length and bytes, then the bytes. Numbers are
/// little-endian.</summary>
internal static class SegmentRecord
{
    public const int HeaderBytes = 12;

    /// <summary>Begins every record, so that the next good one is found behind a damaged one. Not found in text: 0xFE is no byte of
    /// UTF-8.</summary>
    public static ReadOnlySpan<byte> Mark => [0xFE, (byte)'E', (byte)'S', (byte)'B'];

    public static void WriteHeader(ReadOnlySpan<byte> payload, Span<byte> header)
    {
        Mark.CopyTo(header);
        BinaryPrimitives.WriteInt32LittleEndian(header[4..], payload.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(header[8..], Checksum(header.Slice(4, 4), payload));
    }

    /// <summary>The bytes of the whole record that a header announces; null where these bytes are no header.</summary>
    public static long? ReadSize(ReadOnlySpan<byte> header)
    {
        if (header.Length < HeaderBytes || !header.StartsWith(Mark))
            return null;
        var length = BinaryPrimitives.ReadInt32LittleEndian(header[4..]);
        return length < 0 ? null : (long)HeaderBytes + length;
    }

    public static bool IsIntact(ReadOnlySpan<byte> record) =>
        BinaryPrimitives.ReadUInt32LittleEndian(record[8..]) == Checksum(record.Slice(4, 4), record[HeaderBytes..]);

    private static uint Checksum(ReadOnlySpan<byte> length, ReadOnlySpan<byte> payload)
    {
        var crc = BitOperations.Crc32C(uint.MaxValue, BinaryPrimitives.ReadUInt32LittleEndian(length));
        var whole = payload.Length & ~7;
        foreach (var eight in MemoryMarshal.Cast<byte, ulong>(payload[..whole]))
            crc = BitOperations.Crc32C(crc, eight);
        foreach (var one in payload[whole..])
            crc = BitOperations.Crc32C(crc, one);
        return ~crc;
    }
}
