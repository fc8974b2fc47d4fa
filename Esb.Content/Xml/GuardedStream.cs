using Esb.Core.Errors;

namespace Esb.Content.Xml;

/// <summary>A stream for the framework's parser, which refuses elements with too many attributes before the parser sees them. Does not
/// dispose the stream behind it.</summary>
internal sealed class GuardedStream(Stream document, XmlLimits limits) : Stream
{
    private readonly AttributeGuard _attributes = new(limits.Attributes);

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override int Read(Span<byte> buffer)
    {
        var read = document.Read(buffer);
        return _attributes.Exceeds(buffer[..read])
            ? throw new EsbException(
                "ESB-XML-LIMIT",
                $"The XML is refused: an element has more than {limits.Attributes} attributes.",
                FaultKind.TooLarge
            )
            : read;
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override void Flush() { }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
