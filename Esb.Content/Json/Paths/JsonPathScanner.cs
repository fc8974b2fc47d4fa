using System.Globalization;
using System.Text;
using System.Text.Json;

namespace Esb.Content.Json.Paths;

/// <summary>Reads the words of a JSONPath: names, texts, integers (RFC 9535, section 2).</summary>
internal sealed class JsonPathScanner(string text)
{
    private const long LargestInteger = (1L << 53) - 1; // I-JSON, section 2.2

    public int Position { get; set; }

    public char Next => Position < text.Length ? text[Position] : '\0';

    public bool AtEnd => Position >= text.Length;

    public void SkipBlanks()
    {
        while (Next is ' ' or '\t' or '\n' or '\r')
            Position++;
    }

    public bool Take(string word)
    {
        if (string.CompareOrdinal(text, Position, word, 0, word.Length) != 0)
            return false;
        Position += word.Length;
        return true;
    }

    public void Expect(string word)
    {
        if (!Take(word))
            throw Error($"expected {word}");
    }

    public string Since(int start) => text[start..Position];

    public JsonPathException Error(string expected) =>
        new(AtEnd ? $"{expected} at the end" : $"{expected} at position {Position + 1}, found {text[Position]}");

    /// <summary>A name without quotes; null if absent.</summary>
    public string? Name()
    {
        var start = Position;
        while (char.IsAsciiLetter(Next) || Next is '_' || Next >= '\u0080' || (Position > start && char.IsAsciiDigit(Next)))
            Position++;
        var name = Since(start);
        return name.Length == 0 ? null
            : IsText(name) ? name
            : throw Error("expected Unicode text");
    }

    /// <summary>An integer; null if absent.</summary>
    public long? Integer()
    {
        var start = Position;
        Take("-");
        while (char.IsAsciiDigit(Next))
            Position++;
        var digits = Since(start);
        if (digits.Length == 0)
            return null;
        var isCanonical = digits == "0" || digits.TrimStart('-') is [>= '1' and <= '9', ..];
        if (isCanonical && long.TryParse(digits, CultureInfo.InvariantCulture, out var number) && Math.Abs(number) <= LargestInteger)
            return number;
        Position = start;
        throw Error("expected an integer without leading zeros, within ±(2^53-1)");
    }

    /// <summary>A number in JSON syntax; null if absent.</summary>
    public JsonElement? Number()
    {
        if (Next != '-' && !char.IsAsciiDigit(Next))
            return null;
        var start = Position;
        while (char.IsAsciiDigit(Next) || Next is '-' or '+' or '.' or 'e' or 'E')
            Position++;
        try
        {
            return JsonElement.Parse(Since(start));
        }
        catch (JsonException)
        {
            Position = start;
            throw Error("expected a number");
        }
    }

    /// <summary>A text in single or double quotes; null if absent.</summary>
    public string? Quoted()
    {
        var quote = Next;
        if (quote is not ('\'' or '"'))
            return null;
        Position++;
        var content = new StringBuilder();
        while (Next != quote)
        {
            if (AtEnd || Next < ' ')
                throw Error($"expected {quote}");
            content.Append(Next == '\\' ? Escaped(quote) : text[Position++]);
        }

        Position++;
        return IsText(content.ToString()) ? content.ToString() : throw Error("expected Unicode text before this");
    }

    private char Escaped(char quote)
    {
        Position++;
        var escape = Next;
        Position++;
        switch (escape)
        {
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case '/' or '\\':
                return escape;
            case 'u':
                return Unit();
            case var other when other == quote:
                return quote;
            default:
                Position--;
                throw Error("expected an escape of JSON");
        }
    }

    private char Unit()
    {
        var digits = text.AsSpan(Position, Math.Min(4, text.Length - Position));
        if (digits.Length < 4 || !ushort.TryParse(digits, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var unit))
            throw Error("expected four hexadecimal digits");
        Position += 4;
        return (char)unit;
    }

    // False if it has half of a surrogate pair.
    private static bool IsText(string candidate)
    {
        for (var at = 0; at < candidate.Length; )
        {
            if (!Rune.TryGetRuneAt(candidate, at, out var rune))
                return false;
            at += rune.Utf16SequenceLength;
        }

        return true;
    }
}
