using System.Buffers;
using System.Text;

namespace Esb.Content.Json;

/// <summary>What a JSON document is, by its first byte.</summary>
internal static class JsonRoot
{
    public const string Object = "an object";

    /// <summary>What may stand in front of it.</summary>
    public static readonly SearchValues<byte> Blanks = SearchValues.Create(" \t\r\n"u8);

    /// <summary>Its kind in words; null where it has not begun.</summary>
    public static string? KindOf(ReadOnlySpan<byte> json)
    {
        if (json.StartsWith(Encoding.UTF8.Preamble))
            json = json[Encoding.UTF8.Preamble.Length..];
        var start = json.IndexOfAnyExcept(Blanks);
        if (start < 0)
            return null;
        return json[start] switch
        {
            (byte)'{' => Object,
            (byte)'[' => "an array",
            (byte)'"' => "a text",
            (byte)'t' or (byte)'f' => "a boolean",
            (byte)'n' => "null",
            _ => "a number",
        };
    }
}
