using System.Net.Sockets;
using System.Runtime.CompilerServices;

namespace Esb.Endpoints.Http.Outside;

/// <summary>A connection of HTTP/1.1 to the outside, for one exchange at a time. <see cref="Abort"/> may be called by anybody, all else by one reader and one writer.</summary>
/// <remarks>No token goes into reading and writing: whoever wants an end closes the socket. An exchange so has neither a token source nor a timer of its own.</remarks>
internal sealed class OutsideConnection : IDisposable
{
    private readonly Socket _socket;
    private readonly Stream _stream;
    private readonly SilenceWatch _silence;
    private readonly GrowingArray _array = new();
    private int _most;
    private int _start;
    private int _end;
    private ValueTask<int> _reading;
    private bool _isReading;

    public OutsideConnection(Socket socket, Stream stream, TimeProvider time)
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

    /// <summary>A timestamp.</summary>
    public long BornAt { get; }

    /// <summary>A timestamp.</summary>
    public long IdleSince { get; set; }

    /// <summary>Whether it has carried an exchange before.</summary>
    public bool IsReused { get; set; }

    /// <summary>Whether anything of an answer has come in this exchange.</summary>
    public bool HasReceived { get; private set; }

    public SilenceWatch Silence => _silence;

    /// <summary>What has come and was not consumed.</summary>
    public ReadOnlyMemory<byte> Received => _array.Bytes.AsMemory(_start, _end - _start);

    /// <summary>Gets ready for an exchange, and begins to read.</summary>
    /// <param name="bufferBytes">What may be read at once.</param>
    /// <returns>False where the other side has hung up, or has said something unasked: nothing may be sent here.</returns>
    public async ValueTask<bool> BeginAsync(int bufferBytes)
    {
        (_most, _start, _end, HasReceived) = (bufferBytes, 0, 0, false);
        BeginReading();
        if (!_reading.IsCompleted) return true;
        try
        {
            await FillAsync();
        }
        catch (OutsideException)
        {
            // it is closed, as the result says
        }

        return false;
    }

    /// <summary>Gives back what an exchange needs.</summary>
    /// <returns>Whether another one may follow: nothing is left, and nobody has closed the connection.</returns>
    public bool End()
    {
        var isClean = !_isReading && _start == _end && _silence.End();
        Release();
        return isClean;
    }

    /// <summary>Reads more; false at the end.</summary>
    /// <exception cref="OutsideException">The connection is broken or closed.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<bool> FillAsync()
    {
        if (!_isReading) BeginReading();
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

    /// <summary>Waits for something to come, for so long at most.</summary>
    public async ValueTask<bool> HearsWithinAsync(TimeSpan time, TimeProvider provider)
    {
        if (!Received.IsEmpty) return true;
        if (!_isReading) BeginReading();
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

    /// <summary>Ends the exchange at once; the other side sees a reset where it still sends or waits.</summary>
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
        if (_end == _array.Bytes.Length) MakeRoom();
        if (_start == _end) (_start, _end) = (0, 0);
        _reading = ReadOnAsync();
        _isReading = true;
    }

    // Somebody may have closed the socket between two exchanges: that is what the read comes to, and none of whoever begins one.
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

    // What filled the array is not all that there is: more is read at once the next time.
    private void MakeRoom()
    {
        var left = _end - _start;
        if (left >= _most) throw new BadAnswerException("a line of it is too long");
        Received.CopyTo(_array.Bytes);
        (_start, _end) = (0, left);
        if (_array.Bytes.Length < _most) _array.Grow(_most, kept: left);
    }

    private void Release()
    {
        Request.Release();
        if (!_isReading) _array.Release(); // a read that was never awaited may still write into it
        (_start, _end) = (0, 0);
    }
}
