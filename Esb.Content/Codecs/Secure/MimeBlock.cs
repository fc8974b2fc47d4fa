using System.Buffers;
using System.Buffers.Text;
using System.Text;
using MimeKit;

namespace Esb.Content.Codecs.Secure;

/// <summary>A MIME entity whose exact bytes matter: its media type and its content as it was sent.</summary>
/// <param name="Type">The media type; null if the entity names none, or one that cannot be read.</param>
/// <param name="Encoding">The transfer encoding, in lower case; empty if none is named.</param>
/// <param name="Content">The content, still encoded for the transfer.</param>
internal sealed record MimeBlock(ContentType? Type, string Encoding, ReadOnlyMemory<byte> Content)
{
    /// <summary>The entity of a message: with its headers in the body, or as the media type of the message.</summary>
    public static MimeBlock Of(ReadOnlyMemory<byte> body, string? contentType)
    {
        if (MimeCodec.HasHeaders(body.Span))
            return Parse(body);
        return new MimeBlock(contentType is not null && ContentType.TryParse(contentType, out var type) ? type : null, "", body);
    }

    /// <summary>True for one of these media types.</summary>
    public bool Is(string type, params ReadOnlySpan<string> subtypes)
    {
        foreach (var subtype in subtypes)
        {
            if (Type?.IsMimeType(type, subtype) == true)
                return true;
        }

        return false;
    }

    /// <summary>The content without its transfer encoding. CMS in base64 without a word of it, as HTTP senders write it, is decoded
    /// too.</summary>
    /// <exception cref="FormatException">It is not Base64.</exception>
    public ReadOnlyMemory<byte> Decode()
    {
        var isDer = Content.Span is [0x30, ..];
        return Encoding == "base64" || (Encoding.Length == 0 && !isDer) ? FromBase64(Content.Span) : Content;
    }

    /// <summary>The two parts of a multipart/signed (RFC 1847): the exact bytes that were signed, and the signature.</summary>
    /// <exception cref="FormatException">It has no two parts.</exception>
    public (ReadOnlyMemory<byte> Signed, MimeBlock Signature) SplitSigned()
    {
        if (Type?.Boundary is not { Length: > 0 } boundary)
            throw new FormatException("There is no boundary.");
        var marks = BoundariesIn(Content.Span, System.Text.Encoding.UTF8.GetBytes($"--{boundary}"));
        if (marks.Count < 3)
            throw new FormatException("Two parts are expected.");
        var signed = Content[marks[0].End..marks[1].Start];
        return (signed, Parse(Content[marks[1].End..marks[2].Start]));
    }

    private static MimeBlock Parse(ReadOnlyMemory<byte> entity)
    {
        var (headers, content) = Divide(entity);
        using var stream = new MemoryStream(headers.ToArray(), writable: false);
        var list = HeaderList.Load(stream);
        var type = list[HeaderId.ContentType] is { } text && ContentType.TryParse(text, out var parsed) ? parsed : null;
        return new MimeBlock(type, list[HeaderId.ContentTransferEncoding]?.Trim().ToLowerInvariant() ?? "", content);
    }

    // The headers end at the first empty line.
    private static (ReadOnlyMemory<byte> Headers, ReadOnlyMemory<byte> Content) Divide(ReadOnlyMemory<byte> entity)
    {
        var span = entity.Span;
        var at = 0;
        while (at < span.Length)
        {
            var end = span[at..].IndexOf((byte)'\n');
            if (end < 0)
                break;
            if (end == 0 || (end == 1 && span[at] == '\r'))
                return (entity[..(at + end + 1)], entity[(at + end + 1)..]);
            at += end + 1;
        }

        return (entity, default);
    }

    // A boundary is a line; the line end before it belongs to it (RFC 2046, section 5.1.1).
    private static List<(int Start, int End)> BoundariesIn(ReadOnlySpan<byte> content, ReadOnlySpan<byte> boundary)
    {
        var found = new List<(int, int)>();
        for (var line = 0; line < content.Length && found.Count < 3; )
        {
            var end = content[line..].IndexOf((byte)'\n');
            var next = end < 0 ? content.Length : line + end + 1;
            if (content[line..].StartsWith(boundary))
            {
                var start = line > 0 ? line - 1 : 0;
                if (start > 0 && content[start - 1] == '\r')
                    start--;
                found.Add((start, next));
            }

            line = next;
        }

        return found;
    }

    private static byte[] FromBase64(ReadOnlySpan<byte> text)
    {
        var made = new byte[Base64.GetMaxDecodedFromUtf8Length(text.Length)];
        return Base64.DecodeFromUtf8(text, made, out _, out var count) == OperationStatus.Done
            ? made[..count]
            : throw new FormatException("It is not Base64.");
    }
}
