using System.Text;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using MimeKit;

namespace Esb.Content.Codecs;

/// <summary>MIME bodies (RFC 2045, RFC 2046): the root part is the body, the others are entries. Thread-safe.</summary>
public static class MimeCodec
{
    private const int MaxDepth = 16;

    /// <summary>Decodes a MIME body, with its headers in the body or as the media type of the message.</summary>
    /// <param name="message">The message; its body must be buffered.</param>
    /// <param name="maxSize">The most bytes of all parts, decoded.</param>
    /// <param name="maxEntries">The most parts.</param>
    /// <exception cref="EsbException"><c>ESB-CODEC-FORMAT</c> (400), <c>ESB-CODEC-LIMIT</c> (413).</exception>
    public static DecodedMessage Decode(EsbMessage message, ByteSize maxSize, int maxEntries)
    {
        var parts = new List<MessageEntry>();
        var budget = new Budget(maxSize.Bytes, maxEntries);
        try
        {
            Collect(Load(message), parts, budget, depth: 0);
        }
        catch (FormatException ex)
        {
            throw Malformed(ex);
        }

        if (parts.Count == 0)
            throw Malformed(cause: null);
        var root = parts[0];
        return new DecodedMessage(message with { Body = root.Body, ContentType = root.ContentType }, parts[1..], Party: null);
    }

    /// <summary>Makes a body of several parts: the body of the message as the root, and the entries.</summary>
    /// <param name="message">The message; its body must be buffered.</param>
    /// <param name="entries">The further parts.</param>
    public static EsbMessage Encode(EsbMessage message, IReadOnlyList<MessageEntry> entries)
    {
        using var multipart = new Multipart("mixed") { Boundary = $"esb-{message.Id:N}" }; // a repetition makes the same bytes
        multipart.Add(PartOf(message.Body, message.ContentType, fileName: null));
        foreach (var entry in entries)
            multipart.Add(PartOf(entry.Body, entry.ContentType, entry.Name));
        using var made = new MemoryStream();
        var options = FormatOptions.Default.Clone();
        options.NewLineFormat = NewLineFormat.Dos;
        multipart.WriteTo(options, made, contentOnly: true);
        return message with
        {
            Body = MessageBody.FromBytes(made.ToArray()),
            ContentType = $"multipart/mixed; boundary=\"{multipart.Boundary}\"",
        };
    }

    /// <summary>True if a body begins with the headers of a MIME entity.</summary>
    public static bool HasHeaders(ReadOnlySpan<byte> body)
    {
        var line = body.IndexOf((byte)'\n');
        var first = line < 0 ? body : body[..line];
        foreach (var name in new[] { "Content-", "MIME-Version:" })
        {
            if (
                first.Length >= name.Length
                && Encoding.ASCII.GetString(first[..name.Length]).Equals(name, StringComparison.OrdinalIgnoreCase)
            )
                return first.IndexOf((byte)':') > 0;
        }

        return false;
    }

    /// <summary>The media type of a part, with its charset alone.</summary>
    internal static string TypeOf(ContentType type) =>
        type.Charset is { Length: > 0 } charset ? $"{type.MimeType}; charset={charset}" : type.MimeType;

    private static MimeEntity Load(EsbMessage message)
    {
        using var stream = new MemoryStream(message.Body.Bytes.ToArray(), writable: false);
        if (BeginsWithHeader(message.Body.Bytes.Span))
            return MimeEntity.Load(stream);
        return message.ContentType is { } given && ContentType.TryParse(given, out var type) && type.IsMimeType("multipart", "*")
            ? MimeEntity.Load(type, stream)
            : throw Malformed(cause: null);
    }

    // Also those of a mail, such as From and Received.
    private static bool BeginsWithHeader(ReadOnlySpan<byte> body)
    {
        var colon = body.IndexOf((byte)':');
        if (colon is < 1 or > 76)
            return false;
        foreach (var letter in body[..colon])
        {
            if (!char.IsAsciiLetterOrDigit((char)letter) && letter != '-')
                return false;
        }

        return true;
    }

    private static void Collect(MimeEntity entity, List<MessageEntry> parts, Budget budget, int depth)
    {
        if (depth > MaxDepth)
            throw CodecLimits.Exceeded($"its parts are nested deeper than {MaxDepth} levels");
        switch (entity)
        {
            case MultipartRelated { Root: { } root } related:
                Collect(root, parts, budget, depth + 1); // the root comes first, wherever it stands
                foreach (var other in related.Where(other => other != root))
                    Collect(other, parts, budget, depth + 1);
                break;
            case Multipart multipart:
                foreach (var part in multipart)
                    Collect(part, parts, budget, depth + 1);
                break;
            case MimePart { Content: { } content } part:
                using (var decoded = content.Open())
                    parts.Add(new MessageEntry(NameOf(part, parts.Count), TypeOf(part.ContentType), budget.Take(decoded)));
                break;
            case MimePart empty:
                parts.Add(new MessageEntry(NameOf(empty, parts.Count), TypeOf(empty.ContentType), MessageBody.Empty));
                break;
            case MessagePart { Message: { } mail } attached:
                using (var written = new MemoryStream())
                {
                    mail.WriteTo(written);
                    written.Position = 0;
                    parts.Add(new MessageEntry(NameOf(attached, parts.Count), "message/rfc822", budget.Take(written)));
                }

                break;
            default:
                throw Malformed(cause: null);
        }
    }

    // A name is a plain file name: what leads elsewhere is cut off.
    private static string NameOf(MimeEntity part, int number)
    {
        var name = part.ContentDisposition?.FileName ?? part.ContentType.Name ?? part.ContentId ?? "";
        name = name[(name.LastIndexOfAny(['/', '\\']) + 1)..].Trim();
        return name is "" or "." or ".." || name.Any(char.IsControl) ? $"part{number}" : name;
    }

    private static MimePart PartOf(MessageBody body, string? type, string? fileName)
    {
        var known =
            type is not null && ContentType.TryParse(type, out var parsed) ? parsed : new ContentType("application", "octet-stream");
        var part = new MimePart(known)
        {
            Content = new MimeContent(new MemoryStream(body.Bytes.ToArray(), writable: false)),
            ContentTransferEncoding = ContentEncoding.Base64,
        };
        if (fileName is not null)
            part.ContentDisposition = new ContentDisposition(ContentDisposition.Attachment) { FileName = fileName };
        return part;
    }

    private static EsbException Malformed(Exception? cause) =>
        new("ESB-CODEC-FORMAT", "The body cannot be decoded: it is not a MIME body.", FaultKind.Malformed, cause);

    private sealed class Budget(long maxBytes, int maxEntries)
    {
        private long _left = maxBytes;
        private int _entries;

        public MessageBody Take(Stream decoded)
        {
            if (++_entries > maxEntries)
                throw CodecLimits.Exceeded($"it has more than {maxEntries} parts");
            var bytes = new CodecLimits(_left, int.MaxValue, maxEntries).ReadAll(decoded, encodedBytes: 1);
            _left -= bytes.Length;
            return MessageBody.FromBytes(bytes);
        }
    }
}

/// <summary>A message whose body was decoded.</summary>
/// <param name="Message">The message with its new body.</param>
/// <param name="Entries">What the body held besides.</param>
/// <param name="Party">The party whose signature it had; null if none.</param>
public sealed record DecodedMessage(EsbMessage Message, IReadOnlyList<MessageEntry> Entries, string? Party);
