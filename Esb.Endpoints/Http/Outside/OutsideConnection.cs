using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Esb.Endpoints.Http.Transport;

namespace Esb.Endpoints.Http.Outside;

/// <summary>An HTTP/1.1 connection to an external system, for one exchange at a time. <see cref="Abort"/> is thread-safe; all other members
/// are for one reader and one writer.</summary>
/// <remarks>Reads and writes take no token: closing the socket ends them. So an exchange needs neither a token source nor a timer of its
/// own.</remarks>
internal sealed class OutsideConnection : IDisposable
{
    private readonly IDisposable _socket;
    private readonly Stream _stream;
    private readonly SilenceWatch _silence;
    private readonly GrowingArray _array = new();
    private int _most;
    private int _start;
    private int _end;
    private ValueTask<int> _reading;
    private bool _isReading;

    /// <param name="socket">Closes the connection, on any thread; this ends what is being read and written.</param>
    /// <param name="stream">Reads and writes it.</param>
    /// <param name="time">The clock.</param>
    public OutsideConnection(IDisposable socket, Stream stream, TimeProvider time)
    {
        (_socket, _stream) = (socket, stream);
        _silence = new SilenceWatch(time);
        Body = new AnswerBody(this);
        BornAt = IdleSince = time.GetTimestamp();
    }

    /// <summary>The request's head, to be written.</summary>
    public TextBuffer Request { get; } = new();

    public AnswerHead Head { get; } = new();

    public AnswerBody Body { get; }

    /// <summary>The timestamp at which the connection was created.</summary>
    public long BornAt { get; }

    /// <summary>The timestamp at which the connection became idle.</summary>
    public long IdleSince { get; set; }

    /// <summary>True if the connection has carried an exchange before.</summary>
    public bool IsReused { get; set; }

    /// <summary>True if any part of an answer has arrived in this exchange.</summary>
    public bool HasReceived { get; private set; }

    public SilenceWatch Silence => _silence;

    /// <summary>The received bytes that are not yet consumed.</summary>
    public ReadOnlyMemory<byte> Received => _array.Bytes.AsMemory(_start, _end - _start);

    /// <summary>Prepares an exchange and starts reading.</summary>
    /// <param name="bufferBytes">The maximum number of bytes to buffer.</param>
    /// <returns>False if the external system has closed the connection or sent unsolicited bytes: the connection must not be
    /// used.</returns>
    public async ValueTask<bool> BeginAsync(int bufferBytes)
    {
        (_most, _start, _end, HasReceived) = (bufferBytes, 0, 0, false);
        if (IsReused && _stream is PolledStream polled)
            polled.ReadAnew(); // a busy thread may not have signalled yet that the connection is closed
        BeginReading();
        if (!_reading.IsCompleted)
            return true;
        try
        {
            await FillAsync();
        }
        catch (OutsideException)
        {
            // the connection is closed; the result says so
        }

        return false;
    }

    /// <summary>Releases the resources of an exchange.</summary>
    /// <returns>True if another exchange may follow: no bytes are left and the connection is open.</returns>
    public bool End()
    {
        var isClean = !_isReading && _start == _end && _silence.End();
        Release();
        return isClean;
    }

    /// <summary>Reads more; false at the end of the stream.</summary>
    /// <exception cref="OutsideException">The connection is broken or closed.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<bool> FillAsync()
    {
        if (!_isReading)
            BeginReading();
        try
        {
            var read = await _reading;
            _end += read;
            HasReceived |= read > 0;
            return read > 0;
        }
        catch (Exception ex) when (IsBreak(ex))
        {
            throw new OutsideException("The connection was closed.", ex);
        }
        finally
        {
            _isReading = false;
        }
    }

    /// <summary>Waits for bytes to arrive, up to the given time.</summary>
    public async ValueTask<bool> HearsWithinAsync(TimeSpan time, TimeProvider provider)
    {
        if (!Received.IsEmpty)
            return true;
        if (!_isReading)
            BeginReading();
        var reading = _reading.AsTask();
        _reading = new ValueTask<int>(reading);
        using var end = new CancellationTokenSource();
        var first = await Task.WhenAny(reading, Task.Delay(time, provider, end.Token));
        await end.CancelAsync();
        return first == reading;
    }

    public void Consume(int bytes) => _start += bytes;

    /// <exception cref="OutsideException">The connection is broken or closed.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask WriteAsync(ReadOnlyMemory<byte> bytes)
    {
        try
        {
            await _stream.WriteAsync(bytes, CancellationToken.None);
        }
        catch (Exception ex) when (IsBreak(ex))
        {
            throw new OutsideException("The connection was closed.", ex);
        }
    }

    /// <summary>Ends the exchange at once; the external system sees a reset if it still sends or waits.</summary>
    public void Abort() => _socket.Dispose();

    public void Dispose()
    {
        _socket.Dispose();
        _stream.Dispose();
        Release();
    }

    private static bool IsBreak(Exception cause) => cause is IOException or ObjectDisposedException or SocketException;

    private void BeginReading()
    {
        if (_end == _array.Bytes.Length)
            MakeRoom();
        if (_start == _end)
            (_start, _end) = (0, 0);
        _reading = ReadOnAsync();
        _isReading = true;
    }

    // The socket may be closed between two exchanges. The read then fails, not the caller that begins an exchange.
    private ValueTask<int> ReadOnAsync()
    {
        try
        {
            return _stream.ReadAsync(_array.Bytes.AsMemory(_end), CancellationToken.None);
        }
        catch (Exception ex) when (IsBreak(ex))
        {
            return ValueTask.FromException<int>(ex);
        }
    }

    // A full array means that more bytes are pending: the next read takes more at once.
    private void MakeRoom()
    {
        var left = _end - _start;
        if (left >= _most)
            throw new BadAnswerException("a line of it is too long");
        Received.CopyTo(_array.Bytes);
        (_start, _end) = (0, left);
        if (_array.Bytes.Length < _most)
            _array.Grow(_most, kept: left);
    }

    private void Release()
    {
        Request.Release();
        if (!_isReading)
            _array.Release(); // a read that was never awaited may still write into it
        (_start, _end) = (0, 0);
    }
}
