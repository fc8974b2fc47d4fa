using System.Text;

namespace Esb.Content.Formats.Flat;

/// <summary>Divides a UTF-8 text into records: lines, or pieces of one length. Not thread-safe.</summary>
internal sealed class FlatRecords
{
    private readonly FlatLayout _layout;
    private readonly ReadOnlyMemory<byte> _text;
    private readonly TextLines? _lines;
    private int _position;

    /// <param name="layout">The layout.</param>
    /// <param name="window">The text; all of it, unless the records are lines.</param>
    public FlatRecords(FlatLayout layout, TextWindow window)
    {
        (_layout, _text) = (layout, window.Text);
        _lines = layout.Length is null ? new TextLines(layout.Name, window, layout.MaxLine) : null;
    }

    /// <summary>The number of the line, or of the record where there are no lines, from 1.</summary>
    public int Line { get; private set; }

    /// <summary>The record, without the end of its line; of a stream, valid until the next is read.</summary>
    public ReadOnlyMemory<byte> Text { get; private set; }

    /// <summary>Moves to the next record; empty lines are none. False at the end.</summary>
    public bool Read() => _lines is { } lines ? ReadLine(lines) : ReadPiece(_layout.Length!.Value);

    private bool ReadLine(TextLines lines)
    {
        do
        {
            if (!lines.Read())
                return false;
        } while (lines.Text.IsEmpty);
        (Line, Text) = (lines.Line, lines.Text);
        return true;
    }

    private bool ReadPiece(int length)
    {
        var rest = _text.Span[_position..];
        if (rest.TrimEnd("\r\n"u8).IsEmpty)
            return false;
        Line++;
        var bytes = _layout.Text.IsUtf8 ? Math.Min(length, rest.Length) : BytesOf(rest, length);
        var found = _layout.Text.IsUtf8 ? bytes : Encoding.UTF8.GetCharCount(rest[..bytes]);
        if (found < length)
            throw new FormatFaultException(
                "ESB-FLAT-WIDTH",
                $"{_layout.Name}, record {Line}: expected {length} bytes, found {found}.",
                Core.Errors.FaultKind.Malformed,
                Line
            );
        Text = _text.Slice(_position, bytes);
        _position += bytes;
        return true;
    }

    /// <summary>The bytes of so many characters; fewer at the end.</summary>
    public static int BytesOf(ReadOnlySpan<byte> text, int characters)
    {
        var at = 0;
        while (characters-- > 0 && at < text.Length)
        {
            Rune.DecodeFromUtf8(text[at..], out _, out var bytes);
            at += bytes;
        }

        return at;
    }
}
