using System.Buffers;

namespace Esb.Endpoints.Http;

/// <summary>Copies bodies through one pooled buffer each, piece by piece as they come.</summary>
internal static class RelayCopy
{
    private const int BufferBytes = 64 * 1024;

    public static async Task ToOutsideAsync(Stream caller, Stream outside, SilenceTimeout silence)
    {
        var buffer = ArrayPool<byte>.Shared.Rent(BufferBytes);
        try
        {
            while (true)
            {
                // No token: a read that is cancelled leaves the server's body reader unusable. The server itself ends reads of callers that hang up or are too slow.
                silence.Pause();
                var read = await caller.ReadAsync(buffer, CancellationToken.None);
                silence.Restart();
                if (read == 0) return;
                await outside.WriteAsync(buffer.AsMemory(0, read), silence.Token);
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    public static async Task ToCallerAsync(Stream outside, Stream caller, SilenceTimeout silence)
    {
        var buffer = ArrayPool<byte>.Shared.Rent(BufferBytes);
        try
        {
            while (true)
            {
                silence.Restart();
                var read = await outside.ReadAsync(buffer, silence.Token);
                silence.Pause();
                if (read == 0) return;
                await caller.WriteAsync(buffer.AsMemory(0, read), silence.Token);
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }
}
