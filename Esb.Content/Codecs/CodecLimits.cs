using Esb.Core.Errors;

namespace Esb.Content.Codecs;

/// <summary>Limits of decoding, against bodies that are much larger decoded. Immutable.</summary>
/// <param name="MaxBytes">The largest decoded body.</param>
/// <param name="MaxRatio">The most decoded bytes for each encoded byte; checked from 1 MiB decoded on, since small bodies compress
/// well.</param>
/// <param name="MaxEntries">The most entries of an archive.</param>
internal sealed record CodecLimits(long MaxBytes, int MaxRatio, int MaxEntries)
{
    private const long FreeBytes = 1 << 20;

    /// <summary>Reads a decoded stream to its end.</summary>
    /// <exception cref="EsbException"><c>ESB-CODEC-LIMIT</c>: it is larger than allowed.</exception>
    public byte[] ReadAll(Stream decoded, long encodedBytes)
    {
        using var made = new MemoryStream();
        var piece = new byte[64 * 1024];
        while (decoded.Read(piece) is var count and > 0)
        {
            if (made.Length + count > MaxBytes)
                throw Exceeded($"it is larger than {MaxBytes} bytes decoded");
            if (made.Length + count > FreeBytes && (made.Length + count) / Math.Max(1, encodedBytes) > MaxRatio)
                throw Exceeded($"it is more than {MaxRatio} times larger decoded");
            made.Write(piece, 0, count);
        }

        return made.ToArray();
    }

    /// <summary>The failure of a body that exceeds a limit.</summary>
    public static EsbException Exceeded(string why) => new("ESB-CODEC-LIMIT", $"The body is refused: {why}.", FaultKind.TooLarge);
}
