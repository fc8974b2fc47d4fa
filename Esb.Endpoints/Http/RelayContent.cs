using System.Buffers;
using System.Net;

namespace Esb.Endpoints.Http;

/// <summary>The body of a relayed request: read from the caller as it is written to the outside.</summary>
internal sealed class RelayContent(Stream source, long? length, IdleTimeout idle) : HttpContent
{
    private const int BufferBytes = 64 * 1024;

    /// <summary>Copies a body through one pooled buffer; each piece is a sign of life.</summary>
    public static async Task CopyAsync(Stream from, Stream to, IdleTimeout idle)
    {
        var buffer = ArrayPool<byte>.Shared.Rent(BufferBytes);
        try
        {
            int read;
            while ((read = await from.ReadAsync(buffer, idle.Token)) > 0)
            {
                idle.Restart();
                await to.WriteAsync(buffer.AsMemory(0, read), idle.Token);
                idle.Restart();
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) => CopyAsync(source, stream, idle);

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context, CancellationToken cancellationToken) => CopyAsync(source, stream, idle);

    protected override bool TryComputeLength(out long computed)
    {
        computed = length ?? 0;
        return length is not null;
    }
}
