using System.Text;

namespace Esb.Tests.Fuzzing;

/// <summary>Breaks valid input in the ways that parsers get wrong: pieces lost, repeated, moved, changed, and put in.</summary>
internal static class Broken
{
    private static readonly byte[] Extremes =
    [
        0,
        1,
        (byte)'\t',
        (byte)'\n',
        (byte)'\r',
        (byte)' ',
        (byte)'0',
        0x7F,
        0x80,
        0xC3,
        0xFE,
        0xFF,
    ];

    /// <summary>Returns the bytes with one to four changes.</summary>
    /// <param name="random">The source of all decisions.</param>
    /// <param name="valid">Input that is accepted as it is.</param>
    /// <param name="pieces">What has a meaning in such input, to be put in anywhere.</param>
    public static byte[] Bytes(Random random, byte[] valid, IReadOnlyList<string> pieces)
    {
        var bytes = valid.ToList();
        for (var changes = random.Next(1, 5); changes > 0 && bytes.Count > 0; changes--)
            Change(random, bytes, pieces);
        return [.. bytes];
    }

    /// <inheritdoc cref="Bytes"/>
    public static string Text(Random random, string valid, IReadOnlyList<string> pieces) =>
        Encoding.UTF8.GetString(Bytes(random, Encoding.UTF8.GetBytes(valid), pieces));

    private static void Change(Random random, List<byte> bytes, IReadOnlyList<string> pieces)
    {
        var at = random.Next(bytes.Count);
        var length = Math.Min(random.Next(1, 20), bytes.Count - at);
        switch (random.Next(7))
        {
            case 0:
                bytes.RemoveRange(at, length);
                break;
            case 1:
                bytes.RemoveRange(at, bytes.Count - at);
                break;
            case 2:
                bytes[at] ^= (byte)(1 << random.Next(8));
                break;
            case 3:
                bytes[at] = Extremes[random.Next(Extremes.Length)];
                break;
            case 4:
                bytes.InsertRange(random.Next(bytes.Count), bytes.GetRange(at, length));
                break;
            case 5:
                for (var times = random.Next(1, 200); times > 0; times--)
                    bytes.Insert(at, bytes[at]);
                break;
            default:
                bytes.InsertRange(at, Encoding.UTF8.GetBytes(pieces[random.Next(pieces.Count)]));
                break;
        }
    }
}
