namespace Esb.Content.Codecs;

/// <summary>The checksum of gzip and zip (RFC 1952, section 8). Thread-safe.</summary>
internal static class Crc32
{
    private static readonly uint[] Table = [.. Enumerable.Range(0, 256).Select(TableEntry)];

    public static uint Of(ReadOnlySpan<byte> bytes)
    {
        var crc = uint.MaxValue;
        foreach (var value in bytes)
            crc = Table[(crc ^ value) & 0xFF] ^ (crc >> 8);
        return ~crc;
    }

    private static uint TableEntry(int index)
    {
        var value = (uint)index;
        for (var bit = 0; bit < 8; bit++)
            value = (value & 1) == 0 ? value >> 1 : 0xEDB88320 ^ (value >> 1);
        return value;
    }
}
