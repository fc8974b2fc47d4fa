using System.Globalization;
using System.Text;

namespace Esb.Content.Schemas.Json;

/// <summary>Writes a regular expression of ECMA-262 (with the flag u) as one of .NET with the same meaning: ASCII classes, whole
/// characters outside of the basic plane, <c>$</c> at the very end.</summary>
/// <remarks>Refuses look-around and back-references, which need backtracking, and counts that multiply to a huge automaton. A word boundary
/// (<c>\b</c>) is that of .NET, which knows letters beyond ASCII.</remarks>
/// <param name="source">As the schema writes it.</param>
/// <param name="checksOnly">Whether look-around and back-references are accepted: the translation is then not used.</param>
internal sealed class EcmaTranslator(string source, bool checksOnly = false)
{
    private const int MaxDepth = 100;
    private const long MaxSize = 20_000; // single characters, once all counts are written out

    private readonly StringBuilder _target = new();
    private int _position;
    private int _depth;

    public string Translate()
    {
        ReadAlternatives();
        if (_position < source.Length)
            throw Fault("there is an unmatched \")\"");
        return _target.ToString();
    }

    /// <returns>How many single characters the automaton has.</returns>
    private long ReadAlternatives()
    {
        if (++_depth > MaxDepth)
            throw Fault($"groups are nested deeper than {MaxDepth}");
        var size = 0L;
        while (_position < source.Length && source[_position] != ')')
        {
            if (Take('|'))
                _target.Append('|');
            else
                size = Checked(size + ReadTerm());
        }

        _depth--;
        return size;
    }

    private long ReadTerm()
    {
        var start = _target.Length;
        var (size, isRepeatable) = ReadAtom();
        if (_position >= source.Length || !IsQuantifier(source[_position]))
            return size;
        if (!isRepeatable)
            throw Fault("there is nothing to repeat");
        _target.Insert(start, "(?:").Append(')');
        return Checked(size * ReadQuantifier());
    }

    private static bool IsQuantifier(char next) => next is '*' or '+' or '?' or '{';

    private (long Size, bool IsRepeatable) ReadAtom()
    {
        var next = source[_position++];
        switch (next)
        {
            case '^':
                _target.Append(@"\A");
                return (0, false);
            case '$':
                _target.Append(@"\z");
                return (0, false);
            case '(':
                return (ReadGroup(), true);
            case '.':
                Write(EcmaClass.AnyButLineEnds);
                return (1, true);
            case '[':
                Write(EcmaClass.Read(source, ref _position));
                return (1, true);
            case '\\':
                return ReadEscape();
            case '*' or '+' or '?':
                throw Fault("there is nothing to repeat");
            case '{' or '}' or ']':
                throw Fault($"\"{next}\" must be escaped");
            default:
                _position--;
                Write(EcmaClass.ReadCharacter(source, ref _position));
                return (1, true);
        }
    }

    private long ReadGroup()
    {
        if (Take('?'))
        {
            if (TakeLookAround())
            {
                if (!checksOnly)
                    throw Fault("look-around is not supported");
            }
            else if (Take('<'))
            {
                SkipName();
            }
            else if (!Take(':'))
            {
                throw Fault("unknown kind of group");
            }
        }

        _target.Append("(?:"); // nothing refers to what a group takes
        var size = ReadAlternatives();
        if (!Take(')'))
            throw Fault("a group is not closed");
        _target.Append(')');
        return size;
    }

    private bool TakeLookAround()
    {
        var length =
            source.AsSpan(_position) is ['=' or '!', ..] ? 1
            : source.AsSpan(_position) is ['<', '=' or '!', ..] ? 2
            : 0;
        _position += length;
        return length > 0;
    }

    private void SkipName()
    {
        var start = _position;
        while (_position < source.Length && (char.IsLetterOrDigit(source[_position]) || source[_position] is '_' or '$'))
            _position++;
        if (_position == start || !Take('>'))
            throw Fault("the name of a group is wrong");
    }

    private (long Size, bool IsRepeatable) ReadEscape()
    {
        switch (Peek())
        {
            case 'b' or 'B':
                _target.Append('\\').Append(source[_position++]);
                return (0, false);
            case 'k' or (>= '1' and <= '9'):
                if (!checksOnly)
                    throw Fault("back-references are not supported");
                _position++;
                return (1, true);
            default:
                Write(EcmaClass.ReadEscape(source, ref _position));
                return (1, true);
        }
    }

    /// <returns>How often what is repeated stands in the automaton.</returns>
    private long ReadQuantifier()
    {
        var quantifier = source[_position++];
        var most = 1L;
        if (quantifier == '{')
        {
            var least = ReadCount();
            var isRange = Take(',');
            most = !isRange || Peek() == '}' ? least : ReadCount();
            if (!Take('}'))
                throw Fault("a count is not closed");
            if (most < least)
                throw Fault("a count ends below its beginning");
            _target.Append(CultureInfo.InvariantCulture, $"{{{least}");
            if (isRange)
                _target.Append(',').Append(source[_position - 2] == ',' ? "" : most.ToString(CultureInfo.InvariantCulture));
            _target.Append('}');
        }
        else
        {
            _target.Append(quantifier);
        }

        if (Take('?'))
            _target.Append('?');
        return Math.Max(most, 1);
    }

    private long ReadCount()
    {
        var start = _position;
        var count = 0L;
        while (_position < source.Length && char.IsAsciiDigit(source[_position]))
            count = Checked((count * 10) + source[_position++] - '0');
        return _position > start ? count : throw Fault("a count is wrong");
    }

    private void Write(EcmaClass characters) => characters.WriteTo(_target);

    private char Peek() => _position < source.Length ? source[_position] : '\0';

    private bool Take(char wanted)
    {
        if (Peek() != wanted || _position >= source.Length)
            return false;
        _position++;
        return true;
    }

    private long Checked(long size) => size <= MaxSize ? size : throw Fault($"its counts multiply to more than {MaxSize} characters");

    private EcmaPatternException Fault(string problem) => new($"{problem}, at character {Math.Min(_position, source.Length) + 1}");
}
