using System.Net.Mime;
using System.Text;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Expressions;

/// <summary>A body as text: by its byte order mark, then by the charset of its content type, then as UTF-8. Never with characters
/// replaced.</summary>
internal static class BodyText
{
    private static readonly Encoding[] Marked =
    [
        new UTF8Encoding(true, true),
        new UnicodeEncoding(false, true, true),
        new UnicodeEncoding(true, true, true),
    ];

    public static string Read(EsbMessage message) => Read(message.Body, message.ContentType);

    /// <exception cref="EsbException"><c>ESB-BODY-ENCODING</c>: it is not text.</exception>
    public static string Read(MessageBody body, string? contentType)
    {
        var bytes = body.Bytes.Span;
        var encoding = EncodingOf(bytes, contentType);
        try
        {
            return encoding.GetString(bytes.StartsWith(encoding.Preamble) ? bytes[encoding.Preamble.Length..] : bytes);
        }
        catch (DecoderFallbackException ex)
        {
            throw new EsbException("ESB-BODY-ENCODING", $"The body is not text in {encoding.WebName}.", FaultKind.Malformed, ex);
        }
    }

    private static Encoding EncodingOf(ReadOnlySpan<byte> bytes, string? contentType)
    {
        foreach (var marked in Marked)
        {
            if (bytes.StartsWith(marked.Preamble))
                return marked;
        }

        return CharsetOf(contentType) is { } charset ? Named(charset) : Marked[0];
    }

    private static string? CharsetOf(string? contentType)
    {
        if (contentType is null || !contentType.Contains("charset", StringComparison.OrdinalIgnoreCase))
            return null;
        try
        {
            return new ContentType(contentType).CharSet;
        }
        catch (FormatException)
        {
            return null; // what a sender says of its body is not always well-formed; then UTF-8 decides
        }
    }

    private static Encoding Named(string charset) =>
        Charsets.Find(charset)
        ?? throw new EsbException("ESB-BODY-ENCODING", "The charset of the content type is not known here.", FaultKind.Malformed);
}
