using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;

namespace Esb.Endpoints.Http.Transport;

/// <summary>A connection of a listener: two pipes between its socket and the web server. <see cref="Abort"/> is thread-safe.</summary>
internal sealed class PolledConnection : DefaultConnectionContext, IMemoryPoolFeature
{
    // The server limits what it reads of a request itself; these hold back a sender that is faster than it.
    private const int MaxUnread = 1024 * 1024;
    private const int MaxUnsent = 64 * 1024;

    private readonly PolledSocket _socket;
    private readonly IDuplexPipe _transport;
    private readonly CancellationTokenSource _closed = new();
    private readonly Lock _gate = new();
    private Exception? _reason;
    private Task _receiving = Task.CompletedTask;
    private Task _sending = Task.CompletedTask;

    public PolledConnection(PolledSocket socket, MemoryPool<byte> memory)
    {
        (_socket, MemoryPool) = (socket, memory);
        var scheduler = new RequestScheduler();
        var received = new Pipe(Options(memory, scheduler, PipeScheduler.Inline, MaxUnread));
        var answered = new Pipe(Options(memory, PipeScheduler.Inline, scheduler, MaxUnsent));
        _transport = new Ends(answered.Reader, received.Writer);
        Application = _transport;
        Transport = new Ends(received.Reader, answered.Writer);
        ConnectionClosed = _closed.Token;
        (LocalEndPoint, RemoteEndPoint) = (socket.LocalEndPoint, socket.RemoteEndPoint);
        Features.Set<IMemoryPoolFeature>(this);
        Features.Set(scheduler);
    }

    public MemoryPool<byte> MemoryPool { get; }

    public void Start() => (_receiving, _sending) = (ReceiveAsync(), SendAsync());

    public override void Abort(ConnectionAbortedException abortReason)
    {
        Close(abortReason);
        _transport.Input.CancelPendingRead();
    }

    public override async ValueTask DisposeAsync()
    {
        await Transport.Input.CompleteAsync();
        await Transport.Output.CompleteAsync();
        await _receiving;
        await _sending;
        await base.DisposeAsync();
        _closed.Dispose();
    }

    private static PipeOptions Options(MemoryPool<byte> memory, PipeScheduler reader, PipeScheduler writer, int most) =>
        new(memory, reader, writer, pauseWriterThreshold: most, resumeWriterThreshold: most / 2, useSynchronizationContext: false);

    private async Task ReceiveAsync()
    {
        var arrived = _transport.Output;
        Exception? failure = null;
        try
        {
            while (true)
            {
                await _socket.WaitToReadAsync(); // an idle connection holds no memory
                var read = _socket.TryReceive(arrived.GetMemory().Span);
                if (read == 0)
                    break;
                if (read < 0)
                    continue;
                arrived.Advance(read);
                var taken = await arrived.FlushAsync();
                if (taken.IsCompleted || taken.IsCanceled)
                    break;
            }
        }
        catch (SocketException ex)
        {
            failure = new ConnectionResetException(ex.Message, ex);
        }
        catch (ObjectDisposedException)
        {
            failure = new ConnectionAbortedException();
        }
        finally
        {
            await arrived.CompleteAsync(ReasonOr(failure));
            // Its listeners may block.
            ThreadPool.UnsafeQueueUserWorkItem(static closed => Tell(closed), _closed, preferLocal: false);
        }
    }

    private static void Tell(CancellationTokenSource closed)
    {
        try
        {
            closed.Cancel();
        }
        catch (ObjectDisposedException)
        {
            // the connection has ended already, and all who listened with it
        }
    }

    private async Task SendAsync()
    {
        var answer = _transport.Input;
        Exception? failure = null;
        try
        {
            while (true)
            {
                var result = await answer.ReadAsync();
                if (result.IsCanceled)
                    break;
                foreach (var piece in result.Buffer)
                    await _socket.SendAsync(piece);
                answer.AdvanceTo(result.Buffer.End);
                if (result.IsCompleted)
                    break;
            }
        }
        catch (SocketException ex)
        {
            failure = new ConnectionResetException(ex.Message, ex);
        }
        catch (ObjectDisposedException)
        {
            // aborted
        }
        finally
        {
            Close(failure);
            await answer.CompleteAsync(failure);
            _transport.Output.CancelPendingFlush();
        }
    }

    private Exception? ReasonOr(Exception? failure)
    {
        lock (_gate)
            return _reason ?? failure;
    }

    private void Close(Exception? reason)
    {
        lock (_gate)
        {
            if (_reason is not null)
                return;
            _reason = reason ?? new ConnectionAbortedException("The connection was closed by the server.");
        }

        _socket.Shutdown();
        _socket.Dispose();
    }

    private sealed record Ends(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
