using System.Buffers;
using System.Text;

namespace Esb.Core.Configuration.Reading;

/// <summary>The bytes of a configuration file: UTF-8, with or without a byte order mark, at most 8 MiB; and positions in them.</summary>
internal sealed class ConfigText(string source, string folder, byte[] bytes)
{
    public const int MaxBytes = 8 * 1024 * 1024;

    public string Source => source;

    public ReadOnlyMemory<byte> Content { get; } = bytes.AsMemory(Encoding.UTF8.Preamble.SequenceEqual(bytes.AsSpan(0, Math.Min(3, bytes.Length))) ? 3 : 0);

    /// <summary>The line and column of a byte, both from 1; columns count characters.</summary>
    public ConfigOrigin At(long offset)
    {
        var before = Content.Span[..(int)Math.Min(offset, Content.Length)];
        var line = before.Count((byte)'\n') + 1;
        var column = Encoding.UTF8.GetCharCount(before[(before.LastIndexOf((byte)'\n') + 1)..]) + 1;
        return new ConfigOrigin(source, line, column, folder);
    }

    /// <summary>What is wrong with the bytes as such, before anybody reads JSON in them; null when nothing is.</summary>
    public ConfigError? FindFault()
    {
        if (bytes.Length > MaxBytes)
            return new ConfigError("ESB-CFG-TOOBIG", source, $"{bytes.Length} bytes", $"expected at most {ByteSize.MiB(8)}");
        if (bytes.AsSpan().StartsWith(Encoding.Unicode.Preamble) || bytes.AsSpan().StartsWith(Encoding.BigEndianUnicode.Preamble))
            return new ConfigError("ESB-CFG-ENCODING", source, null, "expected UTF-8, found UTF-16 at byte 0");
        if (FirstInvalidByte() is { } offset)
            return new ConfigError("ESB-CFG-ENCODING", source, null, $"expected UTF-8, found a byte that is not at byte {offset}", At(offset));
        return Content.Span.IsEmpty || Content.Span.IndexOfAnyExcept(" \t\r\n"u8) < 0
            ? new ConfigError("ESB-CFG-EMPTY", source, null, "is empty; expected a JSON object")
            : null;
    }

    private int? FirstInvalidByte()
    {
        var rest = Content.Span;
        while (!rest.IsEmpty)
        {
            if (Rune.DecodeFromUtf8(rest, out var rune, out var consumed) != OperationStatus.Done || rune.Value == 0)
                return Content.Length - rest.Length; // a NUL is valid UTF-8, but in practice it is UTF-16 without a mark
            rest = rest[consumed..];
        }

        return null;
    }
}
