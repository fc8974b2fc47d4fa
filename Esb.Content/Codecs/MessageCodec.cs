using Esb.Core.Configuration;
using Esb.Core.Messages;

namespace Esb.Content.Codecs;

/// <summary>Encodes and decodes the bodies of messages. Thread-safe.</summary>
public static class MessageCodec
{
    private static readonly string[] EncodedTypes =
    [
        "application/gzip",
        "application/x-gzip",
        "application/zlib",
        "application/zip",
        "application/x-zip-compressed",
        "application/octet-stream",
    ];

    /// <summary>The message with its body decoded. Its media type stays unless it names the encoding.</summary>
    /// <param name="codec">The codec.</param>
    /// <param name="message">The message; its body must be buffered.</param>
    /// <param name="maxSize">The largest decoded body.</param>
    /// <param name="maxRatio">The most decoded bytes for each encoded byte, from 1 MiB on.</param>
    /// <param name="maxEntries">The most entries of an archive.</param>
    /// <param name="contentType">The media type of the decoded body; null keeps that of the message.</param>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-CODEC-FORMAT</c> (400), <c>ESB-CODEC-LIMIT</c> (413), <c>ESB-CODEC-ENTRIES</c>,
    /// <c>ESB-CODEC-NAME</c> (422).</exception>
    public static EsbMessage Decode(
        CodecKind codec,
        EsbMessage message,
        ByteSize maxSize,
        int maxRatio,
        int maxEntries,
        string? contentType
    )
    {
        var body = BodyCodec.Decode(codec, message.Body.Bytes, new CodecLimits(maxSize.Bytes, maxRatio, maxEntries));
        return message with
        {
            Body = MessageBody.FromBytes(body),
            ContentType = contentType ?? (NamesEncoding(message.ContentType) ? null : message.ContentType),
        };
    }

    /// <summary>All files of a zip archive; the body becomes a JSON list of them.</summary>
    /// <param name="message">The message; its body must be buffered.</param>
    /// <param name="maxSize">The most bytes of all files, decoded.</param>
    /// <param name="maxRatio">The most decoded bytes for each encoded byte, from 1 MiB on.</param>
    /// <param name="maxEntries">The most entries.</param>
    /// <exception cref="Core.Errors.EsbException"><c>ESB-CODEC-FORMAT</c> (400), <c>ESB-CODEC-LIMIT</c> (413), <c>ESB-CODEC-NAME</c>
    /// (422).</exception>
    public static DecodedMessage DecodeEntries(EsbMessage message, ByteSize maxSize, int maxRatio, int maxEntries)
    {
        try
        {
            var entries = ZipCodec.DecodeAll(message.Body.Bytes, new CodecLimits(maxSize.Bytes, maxRatio, maxEntries));
            return new DecodedMessage(
                message with
                {
                    Body = MessageBody.FromBytes(EntryList.ToJson(entries)),
                    ContentType = "application/json",
                },
                entries,
                Party: null
            );
        }
        catch (Exception ex) when (ex is InvalidDataException or InvalidOperationException or EndOfStreamException)
        {
            throw BodyCodec.Malformed(CodecKind.Zip, ex);
        }
    }

    /// <summary>The message with its body encoded, and the media type of the encoding.</summary>
    /// <param name="codec">The codec.</param>
    /// <param name="message">The message; its body must be buffered.</param>
    /// <param name="name">The name of the entry in an archive.</param>
    /// <param name="contentType">The media type of the encoded body; null means that of the codec.</param>
    public static EsbMessage Encode(CodecKind codec, EsbMessage message, string name, string? contentType) =>
        message with
        {
            Body = MessageBody.FromBytes(BodyCodec.Encode(codec, message.Body.Bytes, name, message.CreatedAt)),
            ContentType = contentType ?? BodyCodec.MediaTypeOf(codec),
        };

    /// <summary>True if a text can be the name of an entry in an archive.</summary>
    public static bool IsEntryName(string name) => name.Length <= 255 && ZipCodec.IsInside(name) && !name.EndsWith('/');

    private static bool NamesEncoding(string? contentType) =>
        contentType is not null && EncodedTypes.Contains(contentType.Split(';', 2)[0].Trim(), StringComparer.OrdinalIgnoreCase);
}
