using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq;

/// <summary>Keeps one connection to the broker: opens it, prepares it, and does both again when it is lost. Thread-safe.</summary>
/// <param name="factory">Knows the broker.</param>
/// <param name="prepare">Runs on each new connection before anybody else may use it.</param>
/// <param name="time">For the waits between attempts.</param>
/// <param name="logger">Hears of each loss and each return.</param>
internal sealed partial class BrokerConnection(
    ConnectionFactory factory, Func<IConnection, CancellationToken, Task> prepare, TimeProvider time, ILogger logger) : IAsyncDisposable
{
    private static readonly TimeSpan CloseTimeout = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stopping = new();
    private readonly TaskCompletionSource _tried = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private TaskCompletionSource<IConnection> _open = NewWaiter();
    private volatile string? _reason = "not connected yet";
    private volatile bool _isBlocked;
    private Task _running = Task.CompletedTask;

    /// <summary>The connection, while it can be used.</summary>
    public IConnection? Current => Volatile.Read(ref _open).Task is { IsCompletedSuccessfully: true } open && open.Result.IsOpen ? open.Result : null;

    /// <summary>Whether the broker has stopped reading what is published.</summary>
    public bool IsBlocked => _isBlocked;

    /// <summary>What stands in the way of publishing; null when nothing does.</summary>
    public string? Reason => Current is null ? _reason ?? "broker away" : _isBlocked ? "the broker takes no messages: it is short of memory or disk" : null;

    /// <summary>Starts connecting; waits for the first attempt, which has a deadline, and no longer.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        _running = RunAsync(_stopping.Token);
        await _tried.Task.WaitAsync(cancellationToken);
    }

    /// <summary>The connection, once it can be used.</summary>
    public Task<IConnection> WaitAsync(CancellationToken cancellationToken) => Volatile.Read(ref _open).Task.WaitAsync(cancellationToken);

    /// <summary>Gives a connection up that does not answer any more; a new one is opened.</summary>
    public static Task AbandonAsync(IConnection connection) => connection.AbortAsync(CloseTimeout);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        var backoff = new Backoff(time);
        try
        {
            while (true)
            {
                await HoldAsync(backoff, stopping);
                await backoff.WaitAsync(stopping);
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            _reason = "stopped";
        }
    }

    // From the attempt to connect until the connection is lost.
    private async Task HoldAsync(Backoff backoff, CancellationToken stopping)
    {
        IConnection? connection = null;
        try
        {
            connection = await factory.CreateConnectionAsync(stopping);
            var lost = WatchForLoss(connection);
            await prepare(connection, stopping);
            _reason = null;
            backoff.Reset();
            LogConnected(factory.ClientProvidedName);
            _open.TrySetResult(connection);
            _tried.TrySetResult();
            await lost.WaitAsync(stopping);
            NoteFailure("broker away");
        }
        catch (Exception ex) when (!stopping.IsCancellationRequested)
        {
            NoteFailure(BrokerFault.Describe(ex));
        }
        finally
        {
            if (_open.Task.IsCompleted) Volatile.Write(ref _open, NewWaiter());
            _tried.TrySetResult();
            if (connection is not null) await CloseAsync(connection);
        }
    }

    private Task WatchForLoss(IConnection connection)
    {
        _isBlocked = false;
        var lost = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        connection.ConnectionShutdownAsync += (_, _) =>
        {
            lost.TrySetResult();
            return Task.CompletedTask;
        };
        connection.ConnectionBlockedAsync += (_, blocked) =>
        {
            _isBlocked = true;
            LogBlocked(factory.ClientProvidedName, blocked.Reason);
            return Task.CompletedTask;
        };
        connection.ConnectionUnblockedAsync += (_, _) =>
        {
            _isBlocked = false;
            return Task.CompletedTask;
        };
        if (!connection.IsOpen) lost.TrySetResult(); // lost before anybody listened
        return lost.Task;
    }

    private void NoteFailure(string reason)
    {
        if (_reason != reason) LogAway(factory.ClientProvidedName, reason);
        _reason = reason;
    }

    private static async Task CloseAsync(IConnection connection)
    {
        await connection.AbortAsync(CloseTimeout);
        await connection.DisposeAsync();
    }

    private static TaskCompletionSource<IConnection> NewWaiter() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    [LoggerMessage(EventId = 1510, Level = LogLevel.Information, Message = "Connection {Connection} to the broker is open")]
    private partial void LogConnected(string? connection);

    [LoggerMessage(EventId = 1511, Level = LogLevel.Warning, Message = "Connection {Connection} to the broker: {Reason}; trying again until it is back")]
    private partial void LogAway(string? connection, string reason);

    [LoggerMessage(EventId = 1512, Level = LogLevel.Warning, Message = "The broker blocks connection {Connection}: {Reason}")]
    private partial void LogBlocked(string? connection, string reason);
}
