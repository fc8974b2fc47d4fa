using System.Collections.Concurrent;
using System.Globalization;
using System.Text;

namespace Esb.Content.Schemas.Json;

/// <summary>A set of Unicode characters, as a class of ECMA-262 names it. Immutable.</summary>
internal sealed class EcmaClass
{
    private const int Last = 0x10FFFF;

    public static readonly EcmaClass AnyButLineEnds = new EcmaClass([('\n', '\n'), ('\r', '\r'), (0x2028, 0x2029)]).Inverted();

    private static readonly EcmaClass Digits = new([('0', '9')]);
    private static readonly EcmaClass Words = new([('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]);

    private static readonly EcmaClass Blanks = new([
        (9, 13),
        (' ', ' '),
        (0xA0, 0xA0),
        (0x1680, 0x1680),
        (0x2000, 0x200A),
        (0x2028, 0x2029),
        (0x202F, 0x202F),
        (0x205F, 0x205F),
        (0x3000, 0x3000),
        (0xFEFF, 0xFEFF),
    ]);

    private static readonly ConcurrentDictionary<string, EcmaClass> Categories = [];

    private readonly (int First, int Last)[] _ranges; // ascending, apart from each other

    private EcmaClass(IEnumerable<(int First, int Last)> ranges)
    {
        var merged = new List<(int First, int Last)>();
        foreach (var range in ranges.Order())
        {
            if (merged.Count > 0 && range.First <= merged[^1].Last + 1)
                merged[^1] = (merged[^1].First, Math.Max(merged[^1].Last, range.Last));
            else
                merged.Add(range);
        }

        _ranges = [.. merged];
    }

    /// <summary>Reads a class from behind its <c>[</c> to behind its <c>]</c>.</summary>
    public static EcmaClass Read(string source, ref int position)
    {
        var isInverted = position < source.Length && source[position] == '^';
        if (isInverted)
            position++;
        var ranges = new List<(int First, int Last)>();
        while (true)
        {
            if (position >= source.Length)
                throw new EcmaPatternException("a class is not closed");
            if (source[position] == ']')
                break;
            var first = ReadMember(source, ref position);
            if (position + 1 >= source.Length || source[position] != '-' || source[position + 1] == ']')
            {
                ranges.AddRange(first._ranges);
                continue;
            }

            position++;
            ranges.Add((first.Single(), ReadMember(source, ref position).Single()));
            if (ranges[^1].Last < ranges[^1].First)
                throw new EcmaPatternException($"a range ends below its beginning, at character {position + 1}");
        }

        position++;
        var all = new EcmaClass(ranges);
        return isInverted ? all.Inverted() : all;
    }

    /// <summary>Reads one character as it is written, which may be two of .NET.</summary>
    public static EcmaClass ReadCharacter(string source, ref int position)
    {
        var character = char.IsSurrogatePair(source, position) ? char.ConvertToUtf32(source, position) : source[position];
        position += character > char.MaxValue ? 2 : 1;
        return new EcmaClass([(character, character)]);
    }

    /// <summary>Reads an escape from behind its <c>\</c>.</summary>
    public static EcmaClass ReadEscape(string source, ref int position)
    {
        if (position >= source.Length)
            throw new EcmaPatternException("it ends in a backslash");
        var kind = source[position++];
        return kind switch
        {
            'd' => Digits,
            'D' => Digits.Inverted(),
            'w' => Words,
            'W' => Words.Inverted(),
            's' => Blanks,
            'S' => Blanks.Inverted(),
            'p' => ReadCategory(source, ref position),
            'P' => ReadCategory(source, ref position).Inverted(),
            _ => Only(EscapedCharacter(kind, source, ref position)),
        };
    }

    public void WriteTo(StringBuilder target)
    {
        var plane = Within(0, 0xD7FF).Concat(Within(0xE000, 0xFFFF)).ToList();
        var pairs = Within(0x10000, Last).SelectMany(PairsOf).ToList();
        if (plane.Count == 0 && pairs.Count == 0)
        {
            target.Append(@"[^\u0000-\uFFFF]"); // matches nothing
            return;
        }

        if (pairs.Count > 0)
            target.Append("(?:");
        if (plane.Count > 0)
            target.Append('[').AppendJoin("", plane.Select(range => Show(range.First, range.Last))).Append(']');
        if (plane.Count > 0 && pairs.Count > 0)
            target.Append('|');
        target.AppendJoin('|', pairs);
        if (pairs.Count > 0)
            target.Append(')');
    }

    private static EcmaClass ReadMember(string source, ref int position)
    {
        if (source[position] != '\\')
            return ReadCharacter(source, ref position);
        position++;
        if (position >= source.Length || source[position] is not ('b' or '-'))
            return ReadEscape(source, ref position);
        return Only(source[position++] == 'b' ? '\b' : '-');
    }

    private static EcmaClass Only(int character) => new([(character, character)]);

    private static int EscapedCharacter(char kind, string source, ref int position)
    {
        switch (kind)
        {
            case 't':
                return '\t';
            case 'n':
                return '\n';
            case 'v':
                return '\v';
            case 'f':
                return '\f';
            case 'r':
                return '\r';
            case '0' when position >= source.Length || !char.IsAsciiDigit(source[position]):
                return 0;
            case 'c' when position < source.Length && char.IsAsciiLetter(source[position]):
                return source[position++] % 32;
            case 'x':
                return ReadHex(source, ref position, 2);
            case 'u':
                return ReadUnicode(source, ref position);
            default:
                return char.IsAsciiLetterOrDigit(kind)
                    ? throw new EcmaPatternException($"\\{kind} is no escape of ECMA-262, at character {position}")
                    : kind;
        }
    }

    private static int ReadUnicode(string source, ref int position)
    {
        if (position < source.Length && source[position] == '{')
        {
            var end = source.IndexOf('}', position);
            if (
                end < 0
                || !int.TryParse(
                    source.AsSpan(position + 1, end - position - 1),
                    NumberStyles.AllowHexSpecifier,
                    CultureInfo.InvariantCulture,
                    out var wide
                )
                || wide is < 0 or > Last
            )
                throw new EcmaPatternException($"\\u{{…}} is wrong, at character {position}");
            position = end + 1;
            return wide;
        }

        var unit = ReadHex(source, ref position, 4);
        if (!char.IsHighSurrogate((char)unit) || position + 1 >= source.Length || source[position] != '\\' || source[position + 1] != 'u')
            return unit;
        var next = position + 2;
        var low = ReadHex(source, ref next, 4);
        if (!char.IsLowSurrogate((char)low))
            return unit;
        position = next;
        return char.ConvertToUtf32((char)unit, (char)low);
    }

    private static int ReadHex(string source, ref int position, int digits)
    {
        if (
            position + digits > source.Length
            || !int.TryParse(source.AsSpan(position, digits), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var value)
        )
            throw new EcmaPatternException($"{digits} hexadecimal digits are expected, at character {position + 1}");
        position += digits;
        return value;
    }

    private static EcmaClass ReadCategory(string source, ref int position)
    {
        var end = position < source.Length && source[position] == '{' ? source.IndexOf('}', position) : -1;
        if (end < 0)
            throw new EcmaPatternException($"\\p needs a name in braces, at character {position + 1}");
        var name = source[(position + 1)..end];
        position = end + 1;
        return Categories.GetOrAdd(
            name,
            _ =>
                UnicodeNames.Find(name, name[(name.IndexOf('=') + 1)..]) is { } holds
                    ? new EcmaClass(RangesOf(holds))
                    : throw new EcmaPatternException($"the property \\p{{{name}}} is not supported; general categories, Any and ASCII are")
        );
    }

    private static IEnumerable<(int First, int Last)> RangesOf(Func<int, bool> holds)
    {
        for (var i = 0; i <= Last; i++)
        {
            if (!holds(i))
                continue;
            var first = i;
            while (i < Last && holds(i + 1))
                i++;
            yield return (first, i);
        }
    }

    private EcmaClass Inverted()
    {
        var gaps = new List<(int First, int Last)>();
        var next = 0;
        foreach (var range in _ranges)
        {
            if (range.First > next)
                gaps.Add((next, range.First - 1));
            next = range.Last + 1;
        }

        if (next <= Last)
            gaps.Add((next, Last));
        return new EcmaClass(gaps);
    }

    private int Single() =>
        _ranges is [var only] && only.First == only.Last
            ? only.First
            : throw new EcmaPatternException("a range begins or ends with a class");

    private IEnumerable<(int First, int Last)> Within(int first, int last) =>
        _ranges
            .Where(range => range.First <= last && range.Last >= first)
            .Select(range => (Math.Max(range.First, first), Math.Min(range.Last, last)));

    // Characters outside of the basic plane, by the first of their two units.
    private static IEnumerable<string> PairsOf((int First, int Last) range)
    {
        for (var start = range.First; start <= range.Last; )
        {
            var whole = start % 0x400 == 0 ? (range.Last + 1 - start) / 0x400 : 0; // first units with all of their second ones
            var end = whole > 0 ? start + (whole * 0x400) - 1 : Math.Min(range.Last, start | 0x3FF);
            yield return $"[{Show(High(start), High(end))}][{(whole > 0 ? Show(0xDC00, 0xDFFF) : Show(Low(start), Low(end)))}]";
            start = end + 1;
        }
    }

    private static int High(int character) => 0xD800 + ((character - 0x10000) >> 10);

    private static int Low(int character) => 0xDC00 + (character & 0x3FF);

    private static string Show(int first, int last) => first == last ? $"\\u{first:X4}" : $"\\u{first:X4}-\\u{last:X4}";
}
