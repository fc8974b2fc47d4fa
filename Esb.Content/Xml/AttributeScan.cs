using System.Buffers;

namespace Esb.Content.Xml;

/// <summary>Finds an element with too many attributes before the parser does, whose time for one element grows with their square (a million take seconds).</summary>
internal static class AttributeScan
{
    private static readonly SearchValues<byte> Marks = SearchValues.Create("=>'\""u8);

    /// <summary>Whether an element has more attributes than that. Nearly always, one count of the bytes says that none can have.</summary>
    /// <remarks>Documents in UTF-16 and UTF-32 are left to the reader's own count.</remarks>
    public static bool Exceeds(ReadOnlySpan<byte> bytes, int limit)
    {
        if (bytes.Count((byte)'=') <= limit || bytes[..Math.Min(4, bytes.Length)].Contains((byte)0)) return false;
        while (bytes.IndexOf((byte)'<') is var start and >= 0)
        {
            bytes = bytes[(start + 1)..];
            if (bytes.StartsWith("!--"u8)) bytes = Behind(bytes, "-->"u8);
            else if (bytes.StartsWith("![CDATA["u8)) bytes = Behind(bytes, "]]>"u8);
            else if (bytes.StartsWith("?"u8)) bytes = Behind(bytes, "?>"u8);
            else if (CountInTag(ref bytes, limit) > limit) return true;
        }

        return false;
    }

    private static int CountInTag(ref ReadOnlySpan<byte> bytes, int limit)
    {
        var count = 0;
        while (count <= limit && bytes.IndexOfAny(Marks) is var mark and >= 0)
        {
            var found = bytes[mark];
            bytes = bytes[(mark + 1)..];
            if (found == '>') break;
            if (found == '=') count++;
            else bytes = Behind(bytes, [found]); // a quoted value
        }

        return count;
    }

    private static ReadOnlySpan<byte> Behind(ReadOnlySpan<byte> bytes, scoped ReadOnlySpan<byte> end) =>
        bytes.IndexOf(end) is var position and >= 0 ? bytes[(position + end.Length)..] : [];
}
