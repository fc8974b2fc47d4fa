using System.Buffers;
using System.Text;
using System.Text.Unicode;

namespace Esb.Content.Formats;

/// <summary>The text of a stream in UTF-8, without a byte order mark, checked while it is read. Not thread-safe.</summary>
internal sealed class DecodedStream(FormatText text, Stream bytes)
{
    /// <summary>The fewest bytes that a reader asks for.</summary>
    public const int SmallestPiece = 1024;

    private const int Utf8CodePage = 65001;
    private const int PieceBytes = 32 * 1024;
    private const int LongestMark = 4;

    private readonly byte[] _raw = new byte[PieceBytes];
    private int _rawCount; // of the beginning, or of a character that is not whole yet
    private long _offset; // of the first of them
    private int _line = 1;
    private bool _endsWithCr;
    private Encoding? _encoding;
    private Decoder? _decoder; // null for UTF-8
    private Encoder? _encoder;
    private char[] _characters = [];

    /// <summary>Reads at least one byte of text; 0 at the end.</summary>
    /// <param name="target">At least <see cref="SmallestPiece"/> bytes.</param>
    /// <exception cref="FormatFaultException"><c>ESB-FLAT-ENCODING</c>, <c>ESB-FLAT-BINARY</c>.</exception>
    public int Read(Span<byte> target)
    {
        if (_encoding is null)
            Begin();
        while (true)
        {
            // A character of the source takes at most three bytes of UTF-8 for each of its own.
            var room = _decoder is null ? Math.Min(target.Length, PieceBytes) : Math.Min((target.Length / 3) - 4, PieceBytes);
            var read = bytes.Read(_raw.AsSpan(_rawCount, room - _rawCount));
            var isEnd = read == 0;
            var count = _decoder is null ? CopyUtf8(_rawCount + read, isEnd, target) : Transcode(_rawCount + read, isEnd, target);
            if (count > 0)
                Note(target[..count]);
            if (count > 0 || isEnd)
                return count;
        }
    }

    private void Begin()
    {
        int read;
        while (_rawCount < LongestMark && (read = bytes.Read(_raw.AsSpan(_rawCount, LongestMark - _rawCount))) > 0)
            _rawCount += read;
        (_encoding, var mark) = text.Detect(_raw.AsSpan(0, _rawCount));
        Keep(mark, _rawCount);
        if (_encoding.CodePage == Utf8CodePage)
            return;
        (_decoder, _encoder) = (_encoding.GetDecoder(), Encoding.UTF8.GetEncoder());
        _characters = new char[_encoding.GetMaxCharCount(PieceBytes)];
    }

    private int CopyUtf8(int count, bool isEnd, Span<byte> target)
    {
        var piece = _raw.AsSpan(0, count);
        var whole = isEnd ? count : WholeCharacters(piece);
        if (!Utf8.IsValid(piece[..whole]))
        {
            var at = 0;
            while (Rune.DecodeFromUtf8(piece[at..], out _, out var length) == OperationStatus.Done)
                at += length;
            throw Undecodable("utf-8", piece, at, null);
        }

        piece[..whole].CopyTo(target);
        Keep(whole, count);
        return whole;
    }

    private int Transcode(int count, bool isEnd, Span<byte> target)
    {
        try
        {
            var characters = _decoder!.GetChars(_raw.AsSpan(0, count), _characters, flush: isEnd);
            var made = _encoder!.GetBytes(_characters.AsSpan(0, characters), target, flush: isEnd);
            Keep(count, count);
            return made;
        }
        catch (DecoderFallbackException ex)
        {
            throw Undecodable(_encoding!.WebName, _raw.AsSpan(0, Math.Max(count, 1)), Math.Clamp(ex.Index, 0, Math.Max(count - 1, 0)), ex);
        }
    }

    // A character may begin at the end of a piece and go on in the next; what can be none is left to the check.
    private static int WholeCharacters(ReadOnlySpan<byte> piece)
    {
        for (var back = 1; back <= Math.Min(3, piece.Length); back++)
        {
            var value = piece[^back];
            if ((value & 0xC0) == 0x80)
                continue;
            var length =
                value >= 0xF0 ? 4
                : value >= 0xE0 ? 3
                : value >= 0xC0 ? 2
                : 1;
            return length > back ? piece.Length - back : piece.Length;
        }

        return piece.Length;
    }

    private void Keep(int from, int count)
    {
        _raw.AsSpan(from, count - from).CopyTo(_raw);
        _rawCount = count - from;
        _offset += from;
    }

    private void Note(ReadOnlySpan<byte> made)
    {
        var binary = made.IndexOf((byte)0);
        var seen = binary < 0 ? made : made[..binary];
        _line += LinesIn(seen);
        if (binary >= 0)
            throw text.Binary(_line);
        _endsWithCr = made[^1] == '\r';
    }

    private FormatFaultException Undecodable(string encodingName, ReadOnlySpan<byte> piece, int at, Exception? inner) =>
        text.Undecodable(encodingName, piece[at], _line + LinesIn(piece[..at]), _offset + at, inner);

    // CR LF counts once, a CR alone too.
    private int LinesIn(ReadOnlySpan<byte> made) =>
        made.Count((byte)'\n') + made.Count((byte)'\r') - made.Count("\r\n"u8) - (_endsWithCr && !made.IsEmpty && made[0] == '\n' ? 1 : 0);
}
