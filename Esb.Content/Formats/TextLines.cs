namespace Esb.Content.Formats;

/// <summary>Divides a UTF-8 text into lines: CR LF, LF and CR end one, also mixed, and the last needs no end. One for one text; not
/// thread-safe.</summary>
internal sealed class TextLines(string format, TextWindow window, long maxLine)
{
    private ReadOnlyMemory<byte> _text = window.Text;
    private int _position;

    /// <summary>The number of the line, from 1.</summary>
    public int Line { get; private set; }

    /// <summary>The line, without its end; of a stream, valid until the next is read.</summary>
    public ReadOnlyMemory<byte> Text { get; private set; }

    /// <summary>Moves to the next line; false at the end.</summary>
    /// <exception cref="FormatFaultException"><c>ESB-FLAT-LINE</c>; of a stream, also the faults of its encoding.</exception>
    public bool Read()
    {
        while (true)
        {
            var rest = _text.Span[_position..];
            var length = rest.IndexOfAny((byte)'\r', (byte)'\n');
            if (window.IsEnd || (length >= 0 && (rest[length] == '\n' || length + 1 < rest.Length)))
                return !rest.IsEmpty && Take(rest, length < 0 ? rest.Length : length);
            if (rest.Length > maxLine + 1)
                throw FormatFaults.TooLong(format, Line + 1, maxLine);
            window.Move(_position); // the line, or CR LF, may go on behind it
            (_text, _position) = (window.Text, 0);
        }
    }

    private bool Take(ReadOnlySpan<byte> rest, int length)
    {
        Line++;
        if (length > maxLine)
            throw FormatFaults.TooLong(format, Line, maxLine);
        Text = _text.Slice(_position, length);
        if (length < rest.Length)
            length += rest[length] == '\r' && length + 1 < rest.Length && rest[length + 1] == '\n' ? 2 : 1;
        _position += length;
        return true;
    }
}
