namespace Esb.Content.Codecs;

/// <summary>An encoded body that notes whether its decoder asked for more than there is.</summary>
internal sealed class NotedEndStream(byte[] body) : MemoryStream(body, writable: false)
{
    /// <summary>True if a read found nothing any more.</summary>
    public bool WasPassed { get; private set; }

    public override int Read(Span<byte> buffer) => Note(base.Read(buffer), buffer.Length);

    public override int Read(byte[] buffer, int offset, int count) => Note(base.Read(buffer, offset, count), count);

    private int Note(int read, int wanted)
    {
        WasPassed |= read == 0 && wanted > 0;
        return read;
    }
}
