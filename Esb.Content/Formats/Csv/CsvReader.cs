using System.Text;

namespace Esb.Content.Formats.Csv;

/// <summary>Divides a UTF-8 text into records and fields (RFC 4180), without an allocation for each. One reader for one text; not
/// thread-safe. Of a stream, what it returns is valid until the next record is read.</summary>
/// <remarks>CR LF, LF and CR end a line, also mixed; the last line needs no end; empty lines are no records. A quote within a field that
/// does not begin with one is part of its text.</remarks>
internal sealed class CsvReader(CsvLayout layout, TextWindow window)
{
    private const byte Cr = (byte)'\r';
    private const byte Lf = (byte)'\n';

    private readonly byte _delimiter = layout.Delimiter;
    private readonly byte _quote = layout.Quote;
    private ReadOnlyMemory<byte> _text = window.Text;
    private Field[] _fields = new Field[16];
    private byte[] _unescaped = [];
    private int _position;
    private int _nextLine = 1;
    private int _start;
    private int _end;
    private (int Line, int Column)? _openQuote;

    public CsvReader(CsvLayout layout, ReadOnlyMemory<byte> text)
        : this(layout, new TextWindow(text)) { }

    /// <summary>The line at which the record begins, from 1.</summary>
    public int Line { get; private set; }

    /// <summary>The number of fields of the record.</summary>
    public int Count { get; private set; }

    /// <summary>The record as it was written, without the end of its line.</summary>
    public ReadOnlyMemory<byte> Record => _text[_start.._end];

    /// <summary>A field of the record; valid until the next call.</summary>
    public ReadOnlySpan<byte> this[int index]
    {
        get
        {
            ref readonly var field = ref _fields[index];
            var value = _text.Span.Slice(field.Start, field.Length);
            return field.IsEscaped ? Unescape(value) : value;
        }
    }

    /// <summary>The column of a field in its line, in characters from 1.</summary>
    public int ColumnOf(int index)
    {
        var before = _text.Span[..(index < Count ? _fields[index].Start : _end)];
        return Encoding.UTF8.GetCharCount(before[(before.LastIndexOfAny(Cr, Lf) + 1)..]) + 1;
    }

    /// <summary>Moves to the next record; false at the end.</summary>
    /// <exception cref="FormatFaultException"><c>ESB-FLAT-QUOTE</c>, <c>ESB-FLAT-LINE</c>; of a stream, also the faults of its
    /// encoding.</exception>
    public bool Read()
    {
        while (true)
        {
            if (TryRead(_text.Span) is { } found)
                return found;
            Move(); // the record may go on behind the window
        }
    }

    // Null where the window ends before it is known what is there.
    private bool? TryRead(ReadOnlySpan<byte> span)
    {
        while (_position < span.Length && span[_position] is Cr or Lf)
        {
            (_start, Line) = (_position, _nextLine);
            if (IsHalf(span))
                return null;
            EndLine(span);
        }

        (_start, Line) = (_position, _nextLine);
        if (_position == span.Length)
            return window.IsEnd ? false : null;

        Count = 0;
        while (true)
        {
            if (_position < span.Length && span[_position] == _quote)
            {
                if (!TryReadQuoted(span))
                    return null;
            }
            else
            {
                ReadPlain(span);
            }

            if (_position == span.Length || span[_position] != _delimiter)
                break;
            _position++;
        }

        if (_position == span.Length ? !window.IsEnd : IsHalf(span))
            return null;
        _end = _position;
        if (_position < span.Length)
            EndLine(span);
        return _end - _start <= layout.MaxLine ? true : throw FormatFaults.TooLong(layout.Name, Line, layout.MaxLine);
    }

    private void Move()
    {
        if (_text.Length - _start > layout.MaxLine + 1)
            throw _openQuote is { } open
                ? FormatFaults.Quote(layout.Name, open.Line, open.Column, $"the quote is not closed within {layout.MaxLine} bytes")
                : FormatFaults.TooLong(layout.Name, Line, layout.MaxLine);
        window.Move(_start);
        (_text, _position, _nextLine, _start, _openQuote) = (window.Text, 0, Line, 0, null);
    }

    // A CR whose LF may follow.
    private bool IsHalf(ReadOnlySpan<byte> span) => span[_position] == Cr && _position + 1 == span.Length && !window.IsEnd;

    private void ReadPlain(ReadOnlySpan<byte> span)
    {
        var length = span[_position..].IndexOfAny(layout.Ends);
        if (length < 0)
            length = span.Length - _position;
        Add(new Field(_position, length, IsEscaped: false));
        _position += length;
    }

    private bool TryReadQuoted(ReadOnlySpan<byte> span)
    {
        var (opened, line) = (_position, _nextLine);
        var start = ++_position;
        var isEscaped = false;
        while (true)
        {
            var next = span[_position..].IndexOfAny(_quote, layout.Escape);
            if (next < 0 && !window.IsEnd)
                return LeaveOpen(span, opened, line);
            if (next < 0)
                throw FormatFaults.Quote(layout.Name, line, ColumnAt(span, opened), "the quote is not closed");
            _position += next;
            if (_position + 1 == span.Length && !window.IsEnd)
                return LeaveOpen(span, opened, line);
            if (layout.Escape != _quote && span[_position] == layout.Escape)
                _position = Math.Min(_position + 2, span.Length);
            else if (layout.Escape == _quote && _position + 1 < span.Length && span[_position + 1] == _quote)
                _position += 2;
            else
                break;
            isEscaped = true;
        }

        Add(new Field(start, _position - start, isEscaped));
        _nextLine += CountLines(span[start.._position]);
        _position++;
        if (_position < span.Length && span[_position] != _delimiter && span[_position] is not (Cr or Lf))
            throw FormatFaults.Quote(
                layout.Name,
                _nextLine,
                ColumnAt(span, _position),
                "expected the end of the field after its closing quote"
            );
        return true;
    }

    private bool LeaveOpen(ReadOnlySpan<byte> span, int opened, int line)
    {
        _openQuote = (line, ColumnAt(span, opened));
        return false;
    }

    private void EndLine(ReadOnlySpan<byte> span)
    {
        _position += span[_position] == Cr && _position + 1 < span.Length && span[_position + 1] == Lf ? 2 : 1;
        _nextLine++;
    }

    private void Add(Field field)
    {
        if (Count == _fields.Length)
            Array.Resize(ref _fields, 2 * Count);
        _fields[Count++] = field;
    }

    private ReadOnlySpan<byte> Unescape(ReadOnlySpan<byte> value)
    {
        if (_unescaped.Length < value.Length)
            _unescaped = new byte[Math.Max(256, TextWindow.Doubled(value.Length))];
        var length = 0;
        for (var i = 0; i < value.Length; i++)
        {
            if (value[i] == layout.Escape && i + 1 < value.Length)
                i++;
            _unescaped[length++] = value[i];
        }

        return _unescaped.AsSpan(0, length);
    }

    private static int CountLines(ReadOnlySpan<byte> value) =>
        value.IndexOfAny(Cr, Lf) < 0 ? 0 : value.Count(Lf) + value.Count(Cr) - value.Count("\r\n"u8);

    private static int ColumnAt(ReadOnlySpan<byte> span, int at) =>
        Encoding.UTF8.GetCharCount(span[(span[..at].LastIndexOfAny(Cr, Lf) + 1)..at]) + 1;

    private readonly record struct Field(int Start, int Length, bool IsEscaped);
}
