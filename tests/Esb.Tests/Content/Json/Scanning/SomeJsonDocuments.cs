using System.Text;

namespace Esb.Tests.Content.Json.Scanning;

/// <summary>Makes JSON of few names, so that paths often meet, and spoils it.</summary>
internal sealed class SomeJsonDocuments(Random random)
{
    private static readonly string[] Names = ["a", "b", "c", "d", "äö", "a.b", "\\u0065", "f\\n", "\\ud800"];
    private static readonly string[] Scalars =
    [
        "1",
        "2",
        "10",
        "-3.5",
        "1e3",
        "12345678901234567890",
        "true",
        "false",
        "null",
        "\"x\"",
        "\"y\"",
        "\"\"",
        "\"10\"",
        "\"\\u0041\\\"\"",
        "\"äö😀\"",
        "\"\\ud800\"",
    ];

    private static readonly string[] Blanks = ["", "", "", " ", "\n", "\r\n\t"];
    private static readonly string[] Bad = ["\"", "{", "]", ",", ":", "0", "\u0001", "x", "\\", "NaN", "{\"a\":1,\"a\":2}", "}}"];

    public byte[] Next()
    {
        var text = new StringBuilder(random.Next(10) == 0 ? "\uFEFF" : "");
        Value(text, random.Next(12) == 0 ? 5 : 0);
        return Encoding.UTF8.GetBytes(Blank(text).ToString());
    }

    /// <summary>A document with one fault, or by chance with none.</summary>
    public byte[] NextSpoilt()
    {
        var sound = Next();
        var place = random.Next(sound.Length);
        return random.Next(5) switch
        {
            0 => sound[..place],
            1 => [.. sound[..place], (byte)random.Next(256), .. sound[(place + 1)..]],
            2 => [.. sound[..place], .. sound[(place + 1)..]],
            3 => [.. sound, .. Encoding.UTF8.GetBytes(One(Bad))],
            _ => [.. sound[..place], .. Encoding.UTF8.GetBytes(One(Bad)), .. sound[place..]],
        };
    }

    private void Value(StringBuilder text, int depth)
    {
        Blank(text);
        switch (depth >= 5 ? 9 : random.Next(10))
        {
            case < 4:
                Object(text, depth);
                break;
            case < 7:
                Array(text, depth);
                break;
            default:
                text.Append(One(Scalars));
                break;
        }

        Blank(text);
    }

    private void Object(StringBuilder text, int depth)
    {
        text.Append('{');
        var isFirst = true;
        foreach (var name in random.GetItems(Names, random.Next(5)).Distinct())
        {
            if (!isFirst)
                text.Append(',');
            isFirst = false;
            Blank(text).Append('"').Append(name).Append('"');
            Blank(text).Append(':');
            Value(text, depth + 1);
        }

        if (isFirst)
            Blank(text);
        text.Append('}');
    }

    private void Array(StringBuilder text, int depth)
    {
        text.Append('[');
        var count = random.Next(4);
        for (var i = 0; i < count; i++)
        {
            if (i > 0)
                text.Append(',');
            Value(text, depth + 1);
        }

        text.Append(']');
    }

    private StringBuilder Blank(StringBuilder text) => text.Append(One(Blanks));

    private string One(string[] items) => random.GetItems(items, 1)[0];
}
