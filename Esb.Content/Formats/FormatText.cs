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
        return binary < 0 ? text : throw Binary(LineAt(text.Span, binary));
    }

    /// <summary>The text of a stream, of which only a part is in memory at a time. The faults are those of <see cref="Decode"/>, found when
    /// their place is read.</summary>
    public TextWindow Open(Stream bytes) => new(new DecodedStream(this, bytes));

    /// <summary>A text with a NUL character.</summary>
    public FormatFaultException Binary(int line) =>
        new("ESB-FLAT-BINARY", $"{format}: the text is binary; it has a NUL character in line {line}.", FaultKind.Malformed, line);

    /// <summary>A byte that its encoding does not have.</summary>
    public FormatFaultException Undecodable(string encodingName, byte found, int line, long offset, Exception? inner) =>
        new(
            "ESB-FLAT-ENCODING",
            $"{format}, line {line}: byte {offset} (0x{found:X2}) is not {encodingName}.",
            FaultKind.Malformed,
            line,
            inner: inner
        );

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

    /// <summary>The encoding of a text by its first four bytes, and the length of its byte order mark.</summary>
    public (Encoding Actual, int Mark) Detect(ReadOnlySpan<byte> bytes)
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

    private FormatFaultException Undecodable(string name, ReadOnlySpan<byte> bytes, int at, int mark, Exception? inner) =>
        Undecodable(name, bytes[at], LineAt(bytes, at), at + mark, inner);

    // CR LF counts once, a CR alone too.
    private static int LineAt(ReadOnlySpan<byte> text, int at)
    {
        var before = text[..at];
        return 1 + before.Count((byte)'\n') + before.Count((byte)'\r') - before.Count("\r\n"u8);
    }
}
