using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>One open connection to the broker, until it is lost or abandoned. Thread-safe.</summary>
internal sealed partial class BrokerLink
{
    // One time-out may be chance. After two without a confirm in between, the broker is considered frozen, and a new connection is opened.
    private const int MaxTimeouts = 2;

    private readonly TaskCompletionSource<string> _lost = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private volatile Block? _block;
    private long _confirmedAt = long.MinValue;
    private int _timeouts;

    public BrokerLink(IConnection connection, TimeProvider time, ILogger logger)
    {
        (Connection, _time, _logger) = (connection, time, logger);
        connection.ConnectionShutdownAsync += (_, shutdown) => Note(() => End(shutdown));
        connection.ConnectionBlockedAsync += (_, blocked) => Note(() => BeginBlock(blocked.Reason));
        connection.ConnectionUnblockedAsync += (_, _) => Note(EndBlock);
        if (!connection.IsOpen)
            Abandon(BrokerFault.Away); // lost before the event handlers were attached
    }

    public IConnection Connection { get; }

    public bool IsOpen => !_lost.Task.IsCompleted && Connection.IsOpen;

    /// <summary>Completes with the reason when the connection is lost or abandoned.</summary>
    public Task<string> Lost => _lost.Task;

    /// <summary>The reason why the broker has stopped reading publishes; null while it reads.</summary>
    public string? BlockReason => _block is { } block ? $"the broker blocks publishers: {block.Reason}" : null;

    /// <summary>The duration of the current block.</summary>
    public TimeSpan BlockedFor => _block is { } block ? _time.GetElapsedTime(block.Since) : TimeSpan.Zero;

    /// <summary>Abandons the connection; the next one is opened at once.</summary>
    public void Abandon(string reason) => _lost.TrySetResult(reason);

    public void CountConfirm()
    {
        Volatile.Write(ref _confirmedAt, _time.GetTimestamp());
        if (Volatile.Read(ref _timeouts) > 0)
            Volatile.Write(ref _timeouts, 0);
    }

    /// <summary>Counts a publish that was not confirmed in time. A blocking broker recovers by itself, and would block a new connection as
    /// well. If other publishes were confirmed meanwhile, a queue is unresponsive, not the connection.</summary>
    /// <param name="began">The timestamp at which the publisher began to wait.</param>
    public void CountTimeout(long began)
    {
        if (_block is null && Volatile.Read(ref _confirmedAt) < began && Interlocked.Increment(ref _timeouts) >= MaxTimeouts)
            Abandon("the broker does not confirm what is published");
    }

    private void End(ShutdownEventArgs shutdown)
    {
        // first: handlers of the loss may look for the cause
        LogEnded(Connection.ClientProvidedName, shutdown.Initiator, shutdown.ReplyText, shutdown.Exception);
        Abandon(BrokerFault.Describe(shutdown));
    }

    private void BeginBlock(string reason)
    {
        _block = new Block(reason, _time.GetTimestamp());
        LogBlocked(Connection.ClientProvidedName, reason);
    }

    private void EndBlock()
    {
        Volatile.Write(ref _timeouts, 0);
        _block = null;
        LogUnblocked(Connection.ClientProvidedName);
    }

    private static Task Note(Action change)
    {
        change();
        return Task.CompletedTask;
    }

    [LoggerMessage(EventId = 1560, Level = LogLevel.Debug, Message = "Connection {Connection} was ended by {Initiator}: {Text}")]
    private partial void LogEnded(string? connection, ShutdownInitiator initiator, string text, Exception? exception);

    [LoggerMessage(EventId = 1512, Level = LogLevel.Warning, Message = "The broker blocks connection {Connection}: {Reason}")]
    private partial void LogBlocked(string? connection, string reason);

    [LoggerMessage(EventId = 1551, Level = LogLevel.Information, Message = "The broker takes messages of connection {Connection} again")]
    private partial void LogUnblocked(string? connection);

    private sealed record Block(string Reason, long Since);
}
