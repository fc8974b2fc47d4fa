using System.Buffers.Binary;
using System.IO.Compression;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Decoding;

/// <summary>A gzip-compressed body (RFC 1952), unpacked up to a limit.</summary>
internal static class GzipBody
{
    /// <summary>Reads the whole body.</summary>
    /// <param name="source">The compressed body.</param>
    /// <param name="maxBytes">The maximum number of unpacked bytes.</param>
    /// <exception cref="EsbException"><c>ESB-BODY-SIZE</c>: it unpacks to more; <c>ESB-HTTP-DECODE</c>: it is not gzip, is truncated, or
    /// has several members, whose completeness the platform does not report.</exception>
    public static async Task<MessageBody> ReadAsync(Stream source, long maxBytes)
    {
        await using var tail = new TailStream(source);
        await using var unpacked = new GZipStream(tail, CompressionMode.Decompress);
        var body = MessageBody.FromStream(unpacked);
        try
        {
            await body.BufferAsync(maxBytes, CancellationToken.None);
        }
        catch (InvalidDataException ex)
        {
            throw Broken("is no gzip, or is damaged", ex);
        }

        // The platform treats a truncated body as complete. The last four bytes are the unpacked length (section 2.3.1).
        if (tail.Count > 0 && (tail.Count < 18 || BinaryPrimitives.ReadUInt32LittleEndian(tail.Last) != (uint)body.Bytes.Length))
            throw Broken("is not whole; one of several members is not taken", null);
        return body;
    }

    private static EsbException Broken(string flaw, Exception? cause) =>
        HttpProblems.Of(StatusCodes.Status400BadRequest, "ESB-HTTP-DECODE", $"The body says that it is packed by gzip, but {flaw}.", cause);
}
