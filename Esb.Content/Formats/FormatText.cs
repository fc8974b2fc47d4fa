using System.Buffers;
using System.Text;
using System.Text.Unicode;
using Esb.Core.Errors;

namespace Esb.Content.Formats;

/// <summary>The encoding of a text with records. Inside, every text is UTF-8: others are transcoded first. Immutable.</summary>
/// <remarks>A byte order mark (UTF-8, UTF-16, UTF-32) takes precedence over the configured encoding.</remarks>
internal sealed class FormatText(string format, Encoding encoding)
{
    private const int Utf8CodePage = 65001;

    /// <summary>The name of the encoding, for a content type.</summary>
    public string Charset => encoding.WebName;

    /// <summary>True for encodings in which each character is one byte.</summary>
    public bool IsSingleByte => encoding.IsSingleByte;

    /// <summary>True for UTF-8.</summary>
    public bool IsUtf8 => encoding.CodePage == Utf8CodePage;

    /// <summary>The text in UTF-8, without a byte order mark; the bytes themselves where they are UTF-8.</summary>
    /// <exception cref="FormatFaultException"><c>ESB-FLAT-ENCODING</c>: bytes that the encoding does not have. <c>ESB-FLAT-BINARY</c>: NUL
    /// characters.</exception>
    public ReadOnlyMemory<byte> Decode(ReadOnlyMemory<byte> bytes)
    {
        var (actual, mark) = Detect(bytes.Span);
        bytes = bytes[mark..];
        var text = actual.CodePage == Utf8CodePage ? CheckUtf8(bytes, mark) : Transcode(bytes, actual);
        var binary = text.Span.IndexOf((byte)0);
        if (binary < 0)
            return text;
        throw new FormatFaultException(
            "ESB-FLAT-BINARY",
            $"{format}: the text is binary; it has a NUL character in line {LineAt(text.Span, binary)}.",
            FaultKind.Malformed,
            LineAt(text.Span, binary)
        );
    }

    /// <summary>Writes a UTF-8 text in the encoding, without a byte order mark.</summary>
    /// <exception cref="FormatFaultException"><c>ESB-FLAT-ENCODING</c>: a character that the encoding does not have.</exception>
    public void Encode(ReadOnlySpan<byte> text, IBufferWriter<byte> output)
    {
        if (IsUtf8)
        {
            output.Write(text);
            return;
        }

        try
        {
            output.Write(encoding.GetBytes(Encoding.UTF8.GetString(text)));
        }
        catch (EncoderFallbackException ex)
        {
            var shown = ex.CharUnknownHigh != '\0' ? char.ConvertToUtf32(ex.CharUnknownHigh, ex.CharUnknownLow) : ex.CharUnknown;
            throw new FormatFaultException(
                "ESB-FLAT-ENCODING",
                $"{format}: {encoding.WebName} has no character U+{shown:X4}.",
                FaultKind.Invalid,
                inner: ex
            );
        }
    }

    private (Encoding Actual, int Mark) Detect(ReadOnlySpan<byte> bytes)
    {
        if (bytes is [0xEF, 0xBB, 0xBF, ..])
            return (Encoding.UTF8, 3);
        if (bytes is [0xFF, 0xFE, 0, 0, ..])
            return (Charsets.Find("utf-32")!, 4);
        if (bytes is [0, 0, 0xFE, 0xFF, ..])
            return (Charsets.Find("utf-32BE")!, 4);
        if (bytes is [0xFF, 0xFE, ..])
            return (Charsets.Find("utf-16")!, 2);
        if (bytes is [0xFE, 0xFF, ..])
            return (Charsets.Find("utf-16BE")!, 2);
        return (encoding, 0);
    }

    private ReadOnlyMemory<byte> CheckUtf8(ReadOnlyMemory<byte> bytes, int mark)
    {
        if (Utf8.IsValid(bytes.Span))
            return bytes;
        var at = 0;
        while (Rune.DecodeFromUtf8(bytes.Span[at..], out _, out var length) == OperationStatus.Done)
            at += length;
        throw Undecodable("utf-8", bytes.Span, at, mark, null);
    }

    private ReadOnlyMemory<byte> Transcode(ReadOnlyMemory<byte> bytes, Encoding actual)
    {
        try
        {
            return Encoding.UTF8.GetBytes(actual.GetString(bytes.Span));
        }
        catch (DecoderFallbackException ex)
        {
            throw Undecodable(actual.WebName, bytes.Span, Math.Clamp(ex.Index, 0, bytes.Length - 1), 0, ex);
        }
    }

    private FormatFaultException Undecodable(string name, ReadOnlySpan<byte> bytes, int at, int mark, Exception? inner)
    {
        var (line, offset) = (LineAt(bytes, at), at + mark);
        return new FormatFaultException(
            "ESB-FLAT-ENCODING",
            $"{format}, line {line}: byte {offset} (0x{bytes[at]:X2}) is not {name}.",
            FaultKind.Malformed,
            line,
            inner: inner
        );
    }

    // CR LF counts once, a CR alone too.
    private static int LineAt(ReadOnlySpan<byte> text, int at)
    {
        var before = text[..at];
        return 1 + before.Count((byte)'\n') + before.Count((byte)'\r') - before.Count("\r\n"u8);
    }
}
