using System.Runtime.InteropServices;
using System.Text;
using Esb.Core.Errors;

namespace Esb.Core.Messages;

/// <summary>The bytes of a message: a stream that can be read once, until it is buffered; or a source that can be opened again, such as a
/// file; or bytes that all copies of the message share.</summary>
/// <remarks>Buffered bodies are thread-safe and never change. A streaming body has one reader; the creator of the stream disposes it. Each
/// reader of a source disposes the stream that it opened.</remarks>
public sealed class MessageBody
{
    /// <summary>A body without bytes.</summary>
    public static readonly MessageBody Empty = FromBytes(ReadOnlyMemory<byte>.Empty);

    // Each read and write of a file is a call on another thread: fewer of them take less time.
    private const int CopyBytes = 1024 * 1024;

    private volatile ParsedView? _views;
    private Stream? _stream;
    private Func<Stream>? _source;
    private bool _isUsedUp;
    private ReadOnlyMemory<byte> _bytes;

    private MessageBody(Stream? stream, ReadOnlyMemory<byte> bytes, long? length, bool isComplete = true)
    {
        _stream = stream;
        _bytes = bytes;
        Length = length;
        IsComplete = isComplete;
    }

    /// <summary>True if the bytes are in memory.</summary>
    public bool IsBuffered => _stream is null && _source is null;

    /// <summary>True if the bytes are not in memory, and can be read from their beginning again and again
    /// (<see cref="OpenRead"/>).</summary>
    public bool CanReopen => _source is not null;

    /// <summary>True if this is the whole body; false if more is still to come.</summary>
    public bool IsComplete { get; }

    /// <summary>True if the body is only looked at on its way to another system, which gets it unread: faults behind what decides are
    /// that system's to find.</summary>
    public bool IsPassedOn { get; private init; }

    /// <summary>Number of bytes; null if a stream does not announce it.</summary>
    public long? Length { get; private set; }

    /// <summary>The bytes of a buffered body.</summary>
    /// <exception cref="InvalidOperationException">The body still streams: await <see cref="BufferAsync"/> first.</exception>
    /// <exception cref="BodyNotCompleteException">Only its beginning is available.</exception>
    public ReadOnlyMemory<byte> Bytes => IsComplete ? BytesSoFar : throw new BodyNotCompleteException();

    /// <summary>The bytes of a buffered body; of a beginning, those received so far.</summary>
    /// <exception cref="InvalidOperationException">The body still streams: await <see cref="BufferAsync"/> first.</exception>
    public ReadOnlyMemory<byte> BytesSoFar =>
        IsBuffered ? _bytes : throw new InvalidOperationException("The body still streams; buffer it first.");

    /// <summary>Creates a body over bytes that must not change any more.</summary>
    public static MessageBody FromBytes(ReadOnlyMemory<byte> bytes) => new(null, bytes, bytes.Length);

    /// <summary>Creates a body over bytes that go to another system unread, whatever is decided by them.</summary>
    public static MessageBody FromPassedOn(ReadOnlyMemory<byte> bytes) => new(null, bytes, bytes.Length) { IsPassedOn = true };

    /// <summary>Creates a body from its beginning, for readers that may need no more. Readers that need more throw
    /// <see cref="BodyNotCompleteException"/>.</summary>
    /// <param name="bytes">The bytes received so far; may be overwritten once the body is no longer used.</param>
    public static MessageBody FromBeginning(ReadOnlyMemory<byte> bytes) => new(null, bytes, length: null, isComplete: false);

    /// <summary>Creates a body of text, in UTF-8.</summary>
    public static MessageBody FromText(string text) => FromBytes(Encoding.UTF8.GetBytes(text));

    /// <summary>Creates a body over a stream, read from its current position.</summary>
    /// <param name="stream">The stream; the caller disposes it after the message is processed.</param>
    /// <param name="length">Number of bytes to come, if known.</param>
    public static MessageBody FromStream(Stream stream, long? length = null) => new(stream, default, length);

    /// <summary>Creates a body over a source that stays as it is, such as a file.</summary>
    /// <param name="open">Opens a stream at the beginning of the body.</param>
    /// <param name="length">Number of bytes.</param>
    public static MessageBody FromSource(Func<Stream> open, long length) => new(null, default, length) { _source = open };

    /// <summary>Opens the body of a source at its beginning; the caller disposes the stream.</summary>
    /// <exception cref="InvalidOperationException">The body has no such source (<see cref="CanReopen"/>).</exception>
    public Stream OpenRead() => (_source ?? throw new InvalidOperationException("The body cannot be opened again."))();

    /// <summary>Opens the body at its beginning; the caller disposes the stream. A streaming body is consumed.</summary>
    /// <exception cref="InvalidOperationException">The body streamed, and has been read already.</exception>
    public Stream Open() =>
        IsBuffered ? ReadBytes()
        : CanReopen ? OpenRead()
        : UseUp(_stream!);

    /// <summary>Reads a streaming body into memory; does nothing for a buffered body.</summary>
    /// <param name="maxBytes">Maximum bytes to read.</param>
    /// <param name="cancellationToken">Cancels reading.</param>
    /// <exception cref="EsbException"><c>ESB-BODY-SIZE</c>: the body is larger.</exception>
    /// <exception cref="InvalidOperationException">The body streamed, and has been read already.</exception>
    public async ValueTask<ReadOnlyMemory<byte>> BufferAsync(long maxBytes, CancellationToken cancellationToken)
    {
        if (IsBuffered)
            return Bytes;
        if (Length > maxBytes)
            throw TooLarge(maxBytes);

        await using var opened = _source?.Invoke();
        _bytes = await ReadAllAsync(opened ?? UseUp(_stream!), Length, maxBytes, cancellationToken);
        Length = _bytes.Length;
        (_stream, _source) = (null, null);
        return _bytes;
    }

    /// <summary>Writes the body to a stream; a streaming body is consumed.</summary>
    /// <exception cref="InvalidOperationException">The body streamed, and has been read already.</exception>
    public async Task CopyToAsync(Stream target, CancellationToken cancellationToken)
    {
        if (IsBuffered)
        {
            await target.WriteAsync(Bytes, cancellationToken);
            return;
        }

        await using var opened = _source?.Invoke();
        await (opened ?? UseUp(_stream!)).CopyToAsync(target, CopyBytes, cancellationToken);
    }

    /// <summary>A parsed form of a buffered body, created at the first call and shared by all copies of the message.</summary>
    /// <typeparam name="TView">Type of the view, one view per type; it must be immutable.</typeparam>
    public TView View<TView>(Func<ReadOnlyMemory<byte>, TView> parse)
        where TView : class => Find<TView>(_views) ?? Keep(parse(Bytes));

    /// <summary>As <see cref="View{TView}"/>, for a form that reads on demand, and can also be created from a beginning.</summary>
    /// <typeparam name="TView">Type of the view, one view per type; it must be thread-safe.</typeparam>
    public TView ViewSoFar<TView>(Func<MessageBody, TView> parse)
        where TView : class => Find<TView>(_views) ?? Keep(parse(this));

    /// <summary>A buffered body as UTF-8 text, without a byte order mark.</summary>
    public string ReadText()
    {
        var bytes = Bytes.Span;
        return Encoding.UTF8.GetString(bytes.StartsWith(Encoding.UTF8.Preamble) ? bytes[3..] : bytes);
    }

    private static async ValueTask<ReadOnlyMemory<byte>> ReadAllAsync(
        Stream stream,
        long? announced,
        long maxBytes,
        CancellationToken cancellationToken
    )
    {
        using var buffer = new BodyBuffer(announced);
        while (await stream.ReadAsync(buffer.Room, cancellationToken) is > 0 and var read)
        {
            buffer.Advance(read);
            if (buffer.Count > maxBytes)
                throw TooLarge(maxBytes);
        }

        return buffer.Complete();
    }

    private MemoryStream ReadBytes() =>
        MemoryMarshal.TryGetArray(Bytes, out var bytes)
            ? new MemoryStream(bytes.Array!, bytes.Offset, bytes.Count, writable: false)
            : new MemoryStream(Bytes.ToArray(), writable: false);

    // The rest of a stream must never be taken for the whole body.
    private Stream UseUp(Stream stream)
    {
        if (_isUsedUp)
            throw new InvalidOperationException("The body streamed, and has been read already.");
        _isUsedUp = true;
        return stream;
    }

    private TView Keep<TView>(TView parsed)
        where TView : class
    {
        while (true)
        {
            var views = _views;
            if (Find<TView>(views) is { } other)
                return other; // made by another thread meanwhile
            if (Interlocked.CompareExchange(ref _views, new ParsedView(parsed, views), views) == views)
                return parsed;
        }
    }

    private static TView? Find<TView>(ParsedView? views)
        where TView : class
    {
        for (var view = views; view is not null; view = view.Next)
        {
            if (view.Value is TView found)
                return found;
        }

        return null;
    }

    private static EsbException TooLarge(long maxBytes) =>
        new("ESB-BODY-SIZE", $"The body is larger than {maxBytes} bytes.", FaultKind.TooLarge);

    /// <summary>One or two views exist: a list costs less than a dictionary.</summary>
    private sealed class ParsedView(object value, ParsedView? next)
    {
        public object Value => value;

        public ParsedView? Next => next;
    }
}
