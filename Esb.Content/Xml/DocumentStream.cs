using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Xml;

/// <summary>The bytes of a document for the framework's parser, which takes them in pieces: what it does not take has cost
/// nothing.</summary>
/// <param name="document">All of it, or its beginning.</param>
/// <param name="isComplete">Whether it is all.</param>
/// <param name="limits">What keeps it from taking the host down.</param>
/// <param name="length">The length by which the parser chooses the size of its buffers: most of what a short pass costs is to make and
/// collect them.</param>
internal sealed class DocumentStream(ReadOnlyMemory<byte> document, bool isComplete, XmlLimits limits, int length) : Stream
{
    private readonly AttributeGuard _attributes = new(document, limits.Attributes);
    private int _position;

    /// <summary>How much the parser has taken.</summary>
    public override long Position
    {
        get => _position;
        set => throw new NotSupportedException();
    }

    public override bool CanRead => true;

    public override bool CanSeek => true;

    public override bool CanWrite => false;

    public override long Length => length;

    public override int Read(Span<byte> buffer)
    {
        var piece = document.Span.Slice(_position, Math.Min(buffer.Length, document.Length - _position));
        if (_attributes.Exceeds(_position + piece.Length))
            throw new EsbException(
                "ESB-XML-LIMIT",
                $"The XML is refused: an element has more than {limits.Attributes} attributes.",
                FaultKind.TooLarge
            );
        if (piece.IsEmpty && !isComplete && !buffer.IsEmpty)
            throw new BodyNotCompleteException();
        piece.CopyTo(buffer);
        _position += piece.Length;
        return piece.Length;
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override void Flush() { }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
