namespace Esb.Content.Formats;

/// <summary>The part of a text that is in memory: all of it, or a window that moves over a stream. One for one reader; not
/// thread-safe.</summary>
internal sealed class TextWindow
{
    private const int FirstBytes = 64 * 1024;

    private readonly DecodedStream? _source;
    private byte[] _buffer = [];
    private int _length;

    /// <summary>All of a text.</summary>
    public TextWindow(ReadOnlyMemory<byte> text) => (Text, IsEnd) = (text, true);

    /// <summary>A window over a stream, empty at first.</summary>
    public TextWindow(DecodedStream source) => _source = source;

    /// <summary>What is in memory; valid until the window moves.</summary>
    public ReadOnlyMemory<byte> Text { get; private set; }

    /// <summary>True if nothing follows behind it.</summary>
    public bool IsEnd { get; private set; }

    /// <summary>Moves the window: drops what stands before a position, and reads more. At the end of the text it becomes
    /// <see cref="IsEnd"/>.</summary>
    /// <param name="from">The position that becomes 0.</param>
    /// <exception cref="FormatFaultException">The text is not of its encoding, or binary.</exception>
    public void Move(int from)
    {
        var kept = _length - from;
        if (_buffer.Length - kept < DecodedStream.SmallestPiece)
        {
            var larger = new byte[Math.Max(FirstBytes, 2 * _buffer.Length)];
            _buffer.AsSpan(from, kept).CopyTo(larger);
            _buffer = larger;
        }
        else
        {
            _buffer.AsSpan(from, kept).CopyTo(_buffer);
        }

        var read = _source!.Read(_buffer.AsSpan(kept));
        (_length, IsEnd) = (kept + read, read == 0);
        Text = _buffer.AsMemory(0, _length);
    }
}
