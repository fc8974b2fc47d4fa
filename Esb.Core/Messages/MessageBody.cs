using System.Collections.Concurrent;
using System.Text;
using Esb.Core.Errors;

namespace Esb.Core.Messages;

/// <summary>The bytes of a message: a stream that can be read once, until somebody buffers it; from then on bytes that all copies of the message share.</summary>
/// <remarks>Buffered bodies are thread-safe and never change. A streaming one has one reader; whoever made the stream disposes it.</remarks>
public sealed class MessageBody
{
    /// <summary>A body without bytes.</summary>
    public static readonly MessageBody Empty = FromBytes(ReadOnlyMemory<byte>.Empty);

    private ConcurrentDictionary<Type, object>? _views;
    private Stream? _stream;
    private bool _isUsedUp;
    private ReadOnlyMemory<byte> _bytes;

    private MessageBody(Stream? stream, ReadOnlyMemory<byte> bytes, long? length)
    {
        _stream = stream;
        _bytes = bytes;
        Length = length;
    }

    /// <summary>Whether the bytes are in memory.</summary>
    public bool IsBuffered => _stream is null;

    /// <summary>The number of bytes; null where a stream does not tell.</summary>
    public long? Length { get; private set; }

    /// <summary>The bytes of a buffered body.</summary>
    /// <exception cref="InvalidOperationException">The body still streams: await <see cref="BufferAsync"/> first.</exception>
    public ReadOnlyMemory<byte> Bytes =>
        IsBuffered ? _bytes : throw new InvalidOperationException("The body still streams; buffer it first.");

    /// <summary>A body over bytes that nobody changes any more.</summary>
    public static MessageBody FromBytes(ReadOnlyMemory<byte> bytes) => new(null, bytes, bytes.Length);

    /// <summary>A body of text, in UTF-8.</summary>
    public static MessageBody FromText(string text) => FromBytes(Encoding.UTF8.GetBytes(text));

    /// <summary>A body over a stream, read from where it stands.</summary>
    /// <param name="stream">Stays the caller's to dispose, after the message is done.</param>
    /// <param name="length">The number of bytes to come, where it is known.</param>
    public static MessageBody FromStream(Stream stream, long? length = null) => new(stream, default, length);

    /// <summary>Reads a streaming body into memory; of a buffered one nothing happens.</summary>
    /// <param name="maxBytes">The most that is read.</param>
    /// <param name="cancellationToken">Stops the reading.</param>
    /// <exception cref="EsbException"><c>ESB-BODY-SIZE</c>: there are more bytes than that.</exception>
    /// <exception cref="InvalidOperationException">The body streamed, and has been read already.</exception>
    public async ValueTask<ReadOnlyMemory<byte>> BufferAsync(long maxBytes, CancellationToken cancellationToken)
    {
        if (_stream is null) return _bytes;
        if (Length > maxBytes) throw TooLarge(maxBytes);

        var stream = UseUp(_stream);
        var buffer = new MemoryStream(capacity: (int)Math.Min(Length ?? 4096, maxBytes));
        var chunk = System.Buffers.ArrayPool<byte>.Shared.Rent(64 * 1024);
        try
        {
            int read;
            while ((read = await stream.ReadAsync(chunk, cancellationToken)) > 0)
            {
                if (buffer.Length + read > maxBytes) throw TooLarge(maxBytes);
                buffer.Write(chunk, 0, read);
            }
        }
        finally
        {
            System.Buffers.ArrayPool<byte>.Shared.Return(chunk);
        }

        _bytes = buffer.GetBuffer().AsMemory(0, (int)buffer.Length);
        Length = _bytes.Length;
        _stream = null;
        return _bytes;
    }

    /// <summary>Writes the body to a stream; a streaming body is used up by it.</summary>
    /// <exception cref="InvalidOperationException">The body streamed, and has been read already.</exception>
    public async Task CopyToAsync(Stream target, CancellationToken cancellationToken)
    {
        if (_stream is null) await target.WriteAsync(_bytes, cancellationToken);
        else await UseUp(_stream).CopyToAsync(target, cancellationToken);
    }

    /// <summary>A parsed form of a buffered body, made at the first call and then shared by all copies of the message.</summary>
    /// <typeparam name="TView">One view exists of each type; it must be immutable.</typeparam>
    public TView View<TView>(Func<ReadOnlyMemory<byte>, TView> parse)
        where TView : class
    {
        var views = LazyInitializer.EnsureInitialized(ref _views);
        return views.TryGetValue(typeof(TView), out var view) ? (TView)view : (TView)views.GetOrAdd(typeof(TView), parse(Bytes));
    }

    /// <summary>A buffered body as UTF-8 text, without a byte order mark.</summary>
    public string ReadText()
    {
        var bytes = Bytes.Span;
        return Encoding.UTF8.GetString(bytes.StartsWith(Encoding.UTF8.Preamble) ? bytes[3..] : bytes);
    }

    // What is left of a stream must never be taken for the whole body.
    private Stream UseUp(Stream stream)
    {
        if (_isUsedUp) throw new InvalidOperationException("The body streamed, and has been read already.");
        _isUsedUp = true;
        return stream;
    }

    private static EsbException TooLarge(long maxBytes) =>
        new("ESB-BODY-SIZE", $"The body is larger than {maxBytes} bytes.", FaultKind.TooLarge);
}
