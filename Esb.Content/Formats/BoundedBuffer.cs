using System.Buffers;
using Esb.Core.Errors;

namespace Esb.Content.Formats;

/// <summary>A growing buffer with a limit: a short text may stand for a long one.</summary>
internal sealed class BoundedBuffer(long limit) : IBufferWriter<byte>
{
    private readonly ArrayBufferWriter<byte> _bytes = new();

    public ReadOnlyMemory<byte> Written => _bytes.WrittenMemory;

    public void Advance(int count)
    {
        if (_bytes.WrittenCount + (long)count > limit)
            throw new EsbException(
                "ESB-CONVERT-OUTPUT",
                $"The conversion makes more than {limit} bytes of this message.",
                FaultKind.Invalid
            );
        _bytes.Advance(count);
    }

    public Memory<byte> GetMemory(int sizeHint = 0) => _bytes.GetMemory(sizeHint);

    public Span<byte> GetSpan(int sizeHint = 0) => _bytes.GetSpan(sizeHint);
}
