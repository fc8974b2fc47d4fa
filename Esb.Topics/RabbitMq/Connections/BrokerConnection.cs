using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>Maintains one connection to the broker: opens it, prepares it, and repeats both when it is lost. Thread-safe.</summary>
/// <param name="factory">Opens connections to the broker.</param>
/// <param name="prepare">Runs on each new connection before any other use.</param>
/// <param name="time">The clock for the waits between attempts.</param>
/// <param name="logger">Logs each loss and each recovery.</param>
internal sealed partial class BrokerConnection(
    ConnectionFactory factory,
    Func<IConnection, CancellationToken, Task> prepare,
    TimeProvider time,
    ILogger logger
) : IAsyncDisposable
{
    private static readonly TimeSpan CloseTimeout = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan LongestClose = TimeSpan.FromSeconds(15);

    // All broker work of the host waits for the connection, and a starting broker is available soon.
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(4);

    // A short block is no reason to turn callers away.
    private static readonly TimeSpan ShortBlock = TimeSpan.FromSeconds(2);

    private readonly CancellationTokenSource _stopping = new();
    private readonly TaskCompletionSource _tried = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private TaskCompletionSource<BrokerLink> _open = NewWaiter();
    private volatile string? _reason = "not connected yet";
    private Task _running = Task.CompletedTask;
    private Task _closing = Task.CompletedTask;

    /// <summary>The connection, if it can be used.</summary>
    public IConnection? Current => Link?.Connection;

    /// <summary>The connection and its state, if it can be used.</summary>
    public BrokerLink? Link =>
        Volatile.Read(ref _open).Task is { IsCompletedSuccessfully: true } open && open.Result.IsOpen ? open.Result : null;

    /// <summary>The reason why publishing is impossible at this moment; null if it is possible.</summary>
    public string? Obstacle => Link is { } link ? link.BlockReason : Absence;

    /// <summary>The reason why publishing has been impossible for longer than a moment; null if it is possible.</summary>
    public string? LastingObstacle =>
        Link is not { } link ? Absence
        : link.BlockedFor > ShortBlock ? link.BlockReason
        : null;

    private string Absence => _reason ?? BrokerFault.Away;

    /// <summary>Starts to connect; waits only for the first attempt, which has a deadline.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        _running = RunAsync(_stopping.Token);
        await _tried.Task.WaitAsync(cancellationToken);
    }

    /// <summary>Returns the connection once it can be used.</summary>
    public async Task<IConnection> WaitAsync(CancellationToken cancellationToken) =>
        (await Volatile.Read(ref _open).Task.WaitAsync(cancellationToken)).Connection;

    /// <summary>Prepares a connection in use once more.</summary>
    public Task PrepareAsync(BrokerLink link) => prepare(link.Connection, _stopping.Token);

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
        await _closing;
    }

    private async Task RunAsync(CancellationToken stopping)
    {
        var backoff = new Backoff(time, LongestPause);
        try
        {
            while (true)
            {
                await HoldAsync(backoff, stopping);
                await backoff.WaitAsync(stopping);
            }
        }
        catch (Exception) when (stopping.IsCancellationRequested)
        {
            _reason = "stopped"; // intended, even if the broker was lost at that moment
        }
    }

    // Runs from the attempt to connect until the connection is lost.
    private async Task HoldAsync(Backoff backoff, CancellationToken stopping)
    {
        IConnection? connection = null;
        try
        {
            connection = await factory.OpenAsync(time, stopping);
            var link = new BrokerLink(connection, time, logger);
            await prepare(connection, stopping);
            _reason = null;
            backoff.Reset();
            LogConnected(factory.ClientProvidedName);
            _open.TrySetResult(link);
            _tried.TrySetResult();
            NoteFailure(await link.Lost.WaitAsync(stopping));
        }
        catch (Exception ex) when (!stopping.IsCancellationRequested)
        {
            NoteFailure(BrokerFault.Describe(ex, factory.Ssl.Enabled));
        }
        finally
        {
            if (_open.Task.IsCompleted)
                Volatile.Write(ref _open, NewWaiter());
            _tried.TrySetResult();
            if (connection is not null)
                _closing = Task.WhenAll(_closing, CloseAsync(connection)); // the next one is opened meanwhile
        }
    }

    private void NoteFailure(string reason)
    {
        if (_reason != reason)
            LogAway(factory.ClientProvidedName, reason);
        _reason = reason;
    }

    private async Task CloseAsync(IConnection connection)
    {
        try
        {
            await EndAsync().WaitAsync(LongestClose, time); // the client waits forever for a running delivery handler
        }
        catch (Exception ex)
        {
            LogNotClosed(factory.ClientProvidedName, ex); // it is lost either way
        }

        async Task EndAsync()
        {
            await connection.AbortAsync(CloseTimeout);
            await connection.DisposeAsync();
        }
    }

    private static TaskCompletionSource<BrokerLink> NewWaiter() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    [LoggerMessage(EventId = 1510, Level = LogLevel.Information, Message = "Connection {Connection} to the broker is open")]
    private partial void LogConnected(string? connection);

    [LoggerMessage(
        EventId = 1511,
        Level = LogLevel.Warning,
        Message = "Connection {Connection} to the broker: {Reason}; trying again until it is back"
    )]
    private partial void LogAway(string? connection, string reason);

    [LoggerMessage(EventId = 1550, Level = LogLevel.Debug, Message = "Connection {Connection} to the broker did not close cleanly")]
    private partial void LogNotClosed(string? connection, Exception exception);
}
