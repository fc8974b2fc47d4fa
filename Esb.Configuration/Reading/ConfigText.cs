using System.Buffers;
using System.Text;
using Esb.Core.Configuration;

namespace Esb.Configuration.Reading;

/// <summary>The bytes of a configuration file and positions in them: UTF-8, with or without a byte order mark, at most 8 MiB.</summary>
/// <param name="source">The origin of the text.</param>
/// <param name="folder">The base folder of relative paths; null if it has none.</param>
/// <param name="bytes">The complete content.</param>
/// <param name="mayBeSecret">True if the text may contain a secret and must not be quoted: an environment variable.</param>
/// <param name="contents">A folder with files that precede those of <paramref name="folder"/>; null for none.</param>
internal sealed class ConfigText(string source, string? folder, byte[] bytes, bool mayBeSecret = false, string? contents = null)
{
    public const int MaxBytes = 8 * 1024 * 1024;

    private static readonly SearchValues<byte> WhiteSpace = SearchValues.Create(" \t\r\n"u8);

    private readonly int _mark = bytes.AsSpan().StartsWith(Encoding.UTF8.Preamble) ? Encoding.UTF8.Preamble.Length : 0;

    // The position of the last lookup. Lookups come in ascending order: counting from the start each time would take quadratic time.
    private int _offset;
    private int _line = 1;
    private int _column = 1;

    public string Source => source;

    public bool MayBeSecret => mayBeSecret;

    /// <summary>The text without its byte order mark.</summary>
    public ReadOnlyMemory<byte> Content => bytes.AsMemory(_mark);

    /// <summary>Returns the line and column of a byte of the content, both from 1; columns count characters.</summary>
    public ConfigOrigin At(long offset)
    {
        var content = Content.Span;
        var end = (int)Math.Min(offset, content.Length);
        if (end < _offset)
            (_offset, _line, _column) = (0, 1, 1);
        for (; _offset < end; _offset++)
        {
            if (content[_offset] == '\n')
                (_line, _column) = (_line + 1, 1);
            else if ((content[_offset] & 0xC0) != 0x80)
                _column++; // continuation bytes do not count
        }

        return new ConfigOrigin(source, _line, _column, folder, contents);
    }

    /// <summary>Returns the error in the bytes themselves, before they are parsed as JSON; null if they are valid.</summary>
    public ConfigError? FindFault()
    {
        if (bytes.Length > MaxBytes)
            return new ConfigError("ESB-CFG-TOOBIG", source, $"{bytes.Length} bytes", $"expected at most {new ByteSize(MaxBytes)}");
        if (bytes.AsSpan().StartsWith(Encoding.Unicode.Preamble) || bytes.AsSpan().StartsWith(Encoding.BigEndianUnicode.Preamble))
            return new ConfigError("ESB-CFG-ENCODING", source, null, "expected UTF-8, found UTF-16 at byte 0");
        if (FirstInvalidByte() is { } offset)
            return new ConfigError(
                "ESB-CFG-ENCODING",
                source,
                null,
                $"expected UTF-8, found something else at byte {offset + _mark}",
                At(offset)
            );
        return Content.Span.IndexOfAnyExcept(WhiteSpace) < 0
            ? new ConfigError("ESB-CFG-EMPTY", source, null, "is empty; expected a JSON object")
            : null;
    }

    private int? FirstInvalidByte()
    {
        var rest = Content.Span;
        while (!rest.IsEmpty)
        {
            if (Rune.DecodeFromUtf8(rest, out var rune, out var consumed) != OperationStatus.Done || rune.Value == 0)
                return Content.Length - rest.Length; // a NUL is valid UTF-8, but in practice the text is UTF-16 without a mark
            rest = rest[consumed..];
        }

        return null;
    }
}
