using System.Text;

namespace Esb.Content.Schemas.Json;

/// <summary>The length of a text in characters, as JSON Schema counts it: code points.</summary>
internal static class TextLength
{
    public static int Of(ReadOnlySpan<byte> utf8)
    {
        if (Ascii.IsValid(utf8))
            return utf8.Length;
        var count = 0;
        foreach (var unit in utf8)
            count += (unit & 0xC0) == 0x80 ? 0 : 1;
        return count;
    }

    public static int Of(string text)
    {
        var count = text.Length;
        foreach (var unit in text)
            count -= char.IsLowSurrogate(unit) ? 1 : 0;
        return count;
    }
}
