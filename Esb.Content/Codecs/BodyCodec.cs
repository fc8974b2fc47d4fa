using System.Buffers.Binary;
using System.Buffers.Text;
using System.IO.Compression;
using Esb.Core.Errors;

namespace Esb.Content.Codecs;

/// <summary>A way to encode bodies.</summary>
public enum CodecKind
{
    /// <summary>gzip (RFC 1952).</summary>
    Gzip,

    /// <summary>deflate in the zlib format (RFC 1950), as HTTP means it; decoded without its header too (RFC 1951).</summary>
    Deflate,

    /// <summary>Brotli (RFC 7932).</summary>
    Brotli,

    /// <summary>A zip archive with one entry.</summary>
    Zip,

    /// <summary>base64 (RFC 4648, section 4); white space is skipped when decoding.</summary>
    Base64,
}

/// <summary>Encodes and decodes bodies. Thread-safe.</summary>
internal static class BodyCodec
{
    /// <summary>The media type of an encoded body.</summary>
    public static string MediaTypeOf(CodecKind codec) =>
        codec switch
        {
            CodecKind.Gzip => "application/gzip",
            CodecKind.Deflate => "application/zlib",
            CodecKind.Zip => "application/zip",
            CodecKind.Base64 => "text/plain; charset=us-ascii",
            _ => "application/octet-stream",
        };

    /// <summary>Decodes a body.</summary>
    /// <exception cref="EsbException"><c>ESB-CODEC-FORMAT</c>, <c>ESB-CODEC-LIMIT</c>, <c>ESB-CODEC-ENTRIES</c>,
    /// <c>ESB-CODEC-NAME</c>.</exception>
    public static byte[] Decode(CodecKind codec, ReadOnlyMemory<byte> body, CodecLimits limits)
    {
        try
        {
            return codec switch
            {
                CodecKind.Gzip => DecodeGzip(body, limits),
                CodecKind.Deflate when IsZlib(body.Span) => DecodeWhole(
                    body,
                    limits,
                    stream => new ZLibStream(stream, CompressionMode.Decompress)
                ),
                CodecKind.Deflate => DecodeWhole(body, limits, stream => new DeflateStream(stream, CompressionMode.Decompress)),
                CodecKind.Brotli => DecodeWhole(body, limits, stream => new BrotliStream(stream, CompressionMode.Decompress)),
                CodecKind.Zip => ZipCodec.DecodeOnly(body, limits).Body,
                _ => DecodeBase64(body.Span, limits),
            };
        }
        catch (Exception ex) when (ex is InvalidDataException or InvalidOperationException or EndOfStreamException)
        {
            throw Malformed(codec, ex);
        }
    }

    /// <summary>Encodes a body.</summary>
    /// <param name="codec">The codec.</param>
    /// <param name="body">The body.</param>
    /// <param name="name">The name of the entry in an archive.</param>
    /// <param name="time">The time of the entry in an archive.</param>
    public static byte[] Encode(CodecKind codec, ReadOnlyMemory<byte> body, string name, DateTimeOffset time) =>
        codec switch
        {
            CodecKind.Gzip => Deflate(body, stream => new GZipStream(stream, CompressionLevel.Optimal)),
            CodecKind.Deflate => Deflate(body, stream => new ZLibStream(stream, CompressionLevel.Optimal)),
            CodecKind.Brotli => Deflate(body, stream => new BrotliStream(stream, CompressionLevel.Optimal)),
            CodecKind.Zip => ZipCodec.Encode(body, name, time),
            _ => EncodeBase64(body.Span),
        };

    /// <summary>The failure of a body that is not what its codec needs.</summary>
    public static EsbException Malformed(CodecKind codec, Exception? cause = null) =>
        new(
            "ESB-CODEC-FORMAT",
            $"The body cannot be decoded: it is not a complete {codec.ToString().ToLowerInvariant()}.",
            FaultKind.Malformed,
            cause
        );

    // The streams of the platform end quietly where a body was cut. A decoder that asks for more than there is has not found its end.
    private static byte[] DecodeWhole(ReadOnlyMemory<byte> body, CodecLimits limits, Func<Stream, Stream> open)
    {
        using var source = new NotedEndStream(body.ToArray());
        using var stream = open(source);
        var decoded = limits.ReadAll(stream, body.Length);
        return source.WasPassed ? throw new InvalidDataException() : decoded;
    }

    // RFC 1952, section 2.3.1: the last member ends with the checksum and length of its content. Another member may follow at any end, so
    // that the decoder always asks for more.
    private static byte[] DecodeGzip(ReadOnlyMemory<byte> body, CodecLimits limits)
    {
        using var source = new MemoryStream(body.ToArray(), writable: false);
        using var stream = new GZipStream(source, CompressionMode.Decompress);
        var decoded = limits.ReadAll(stream, body.Length);
        if (body.Length < 18)
            throw new InvalidDataException();
        var (checksum, length) = (
            BinaryPrimitives.ReadUInt32LittleEndian(body.Span[^8..]),
            BinaryPrimitives.ReadUInt32LittleEndian(body.Span[^4..])
        );
        return length <= decoded.Length && Crc32.Of(decoded.AsSpan(decoded.Length - (int)length)) == checksum
            ? decoded
            : throw new InvalidDataException();
    }

    private static byte[] Deflate(ReadOnlyMemory<byte> body, Func<Stream, Stream> open)
    {
        using var made = new MemoryStream();
        using (var encoder = open(made))
            encoder.Write(body.Span);
        return made.ToArray();
    }

    // RFC 1950, section 2.2: method 8, and a check of the first two bytes.
    private static bool IsZlib(ReadOnlySpan<byte> body) =>
        body is [var method, var flags, ..] && (method & 0x0F) == 8 && ((method << 8) | flags) % 31 == 0;

    private static byte[] DecodeBase64(ReadOnlySpan<byte> body, CodecLimits limits)
    {
        if (Base64.GetMaxDecodedFromUtf8Length(body.Length) > limits.MaxBytes)
            throw CodecLimits.Exceeded($"it is larger than {limits.MaxBytes} bytes decoded");
        var made = new byte[Base64.GetMaxDecodedFromUtf8Length(body.Length)];
        if (Base64.DecodeFromUtf8(body, made, out _, out var count) != System.Buffers.OperationStatus.Done)
            throw new InvalidDataException();
        return made[..count];
    }

    private static byte[] EncodeBase64(ReadOnlySpan<byte> body)
    {
        var made = new byte[Base64.GetMaxEncodedToUtf8Length(body.Length)];
        Base64.EncodeToUtf8(body, made, out _, out var count);
        return made[..count];
    }
}
