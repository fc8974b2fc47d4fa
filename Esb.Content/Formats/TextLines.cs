namespace Esb.Content.Formats;

/// <summary>Divides a UTF-8 text into lines: CR LF, LF and CR end one, also mixed, and the last needs no end. One for one text; not
/// thread-safe.</summary>
internal sealed class TextLines(string format, ReadOnlyMemory<byte> text, long maxLine)
{
    private int _position;

    /// <summary>The number of the line, from 1.</summary>
    public int Line { get; private set; }

    /// <summary>The line, without its end.</summary>
    public ReadOnlyMemory<byte> Text { get; private set; }

    /// <summary>The byte at which the line begins.</summary>
    public int Start { get; private set; }

    /// <summary>Moves to the next line; false at the end.</summary>
    /// <exception cref="FormatFaultException"><c>ESB-FLAT-LINE</c>.</exception>
    public bool Read()
    {
        var span = text.Span;
        if (_position == span.Length)
            return false;
        Line++;
        var length = span[_position..].IndexOfAny((byte)'\r', (byte)'\n');
        if (length < 0)
            length = span.Length - _position;
        if (length > maxLine)
            throw FormatFaults.TooLong(format, Line, maxLine);
        (Text, Start) = (text.Slice(_position, length), _position);
        _position += length;
        if (_position < span.Length)
            _position += span[_position] == '\r' && _position + 1 < span.Length && span[_position + 1] == '\n' ? 2 : 1;
        return true;
    }
}
