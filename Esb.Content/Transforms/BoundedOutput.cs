using Esb.Core.Errors;

namespace Esb.Content.Transforms;

/// <summary>Takes what a map makes, up to a limit.</summary>
internal sealed class BoundedOutput(int capacity, long limit) : MemoryStream(capacity)
{
    public override void Write(byte[] buffer, int offset, int count)
    {
        CheckRoom(count);
        base.Write(buffer, offset, count);
    }

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        CheckRoom(buffer.Length);
        base.Write(buffer);
    }

    private void CheckRoom(int count)
    {
        if (Length + count > limit)
            throw new EsbException("ESB-XSL-OUTPUT", $"The map makes more than {limit} bytes of this message.", FaultKind.Invalid);
    }
}
