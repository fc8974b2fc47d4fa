using System.Text;
using Esb.Core.Messages;

namespace Esb.Content.Masking;

/// <summary>What a body seems to be.</summary>
internal enum BodyFormat
{
    /// <summary>Nothing: there are no bytes.</summary>
    Empty,

    /// <summary>XML.</summary>
    Xml,

    /// <summary>A form.</summary>
    Form,

    /// <summary>JSON, or none of these: whether it is, reading it tells.</summary>
    Json,
}

/// <summary>Tells formats apart by their first bytes. A content type is believed only of what cannot be anything else: many senders say
/// form and send JSON.</summary>
internal static class BodyFormats
{
    private const string FormType = "application/x-www-form-urlencoded";

    /// <summary>What a body seems to be.</summary>
    public static BodyFormat Of(ReadOnlySpan<byte> bytes, string? contentType)
    {
        if (bytes.Length == 0)
            return BodyFormat.Empty;
        if (IsUtf16(bytes))
            return BodyFormat.Xml; // JSON is UTF-8 here, and forms are
        if (bytes.StartsWith(Encoding.UTF8.Preamble))
            bytes = bytes[Encoding.UTF8.Preamble.Length..];
        return bytes.TrimStart(" \t\r\n"u8) switch
        {
            [(byte)'<', ..] => BodyFormat.Xml,
            [(byte)'{' or (byte)'[', ..] => BodyFormat.Json,
            _ => IsForm(contentType) ? BodyFormat.Form : BodyFormat.Json,
        };
    }

    private static bool IsUtf16(ReadOnlySpan<byte> bytes) =>
        bytes is [0xFE, 0xFF, ..] or [0xFF, 0xFE, ..] or [0, (byte)'<', ..] or [(byte)'<', 0, ..];

    private static bool IsForm(string? contentType) =>
        contentType is not null
        && contentType
            .AsSpan(0, contentType.IndexOf(';', StringComparison.Ordinal) is var end and >= 0 ? end : contentType.Length)
            .Trim()
            .Equals(FormType, StringComparison.OrdinalIgnoreCase);
}
