using System.Runtime.ExceptionServices;

namespace Esb.Content.Formats;

/// <summary>The part of a text that is in memory: all of it, or a window that moves over a stream. One for one reader; not
/// thread-safe.</summary>
internal sealed class TextWindow
{
    private const int FirstBytes = 64 * 1024;

    private readonly DecodedStream? _source;
    private byte[] _buffer = [];
    private int _length;
    private ExceptionDispatchInfo? _fault;

    /// <summary>All of a text.</summary>
    public TextWindow(ReadOnlyMemory<byte> text) => (Text, IsEnd) = (text, true);

    /// <summary>A window over a stream, empty at first.</summary>
    public TextWindow(DecodedStream source) => _source = source;

    /// <summary>What is in memory; valid until the window moves.</summary>
    public ReadOnlyMemory<byte> Text { get; private set; }

    /// <summary>True if nothing follows behind it.</summary>
    public bool IsEnd { get; private set; }

    /// <summary>Moves the window: drops what stands before a position, and reads more, as much as it keeps: a long record is then looked
    /// at a few times, not once for each piece that is read. At the end of the text it becomes <see cref="IsEnd"/>.</summary>
    /// <param name="from">The position that becomes 0.</param>
    /// <exception cref="FormatFaultException">The text is not of its encoding, or binary.</exception>
    public void Move(int from)
    {
        _fault?.Throw();
        var kept = _length - from;
        var target = _buffer;
        if (_buffer.Length - kept < DecodedStream.SmallestPiece)
            target = new byte[Math.Max(FirstBytes, Doubled(_buffer.Length))];
        if (from > 0 || target != _buffer)
            _buffer.AsSpan(from, kept).CopyTo(target);
        (_buffer, _length) = (target, kept);

        do IsEnd = !TryRead(isFirst: _length == kept);
        while (!IsEnd && _fault is null && _length < 2L * kept && _buffer.Length - _length >= DecodedStream.SmallestPiece);
        Text = _buffer.AsMemory(0, _length);
    }

    private bool TryRead(bool isFirst)
    {
        try
        {
            var read = _source!.Read(_buffer.AsSpan(_length));
            _length += read;
            return read > 0;
        }
        catch (FormatFaultException ex) when (!isFirst)
        {
            _fault = ExceptionDispatchInfo.Capture(ex); // the records before it are read first
            return true;
        }
    }

    /// <summary>Twice a length, but not more than an array can have: a record of 1 GiB needs more than twice 512 MiB.</summary>
    /// <param name="length">The length of the array that is too short.</param>
    public static int Doubled(int length) => (int)Math.Min(2L * length, Array.MaxLength);
}
