using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Esb.Topics.RabbitMq.Connections;

/// <summary>One open connection to the broker, until it is lost or given up. Thread-safe.</summary>
internal sealed partial class BrokerLink
{
    // One may be bad luck; after two while nothing is confirmed the broker is frozen: a new connection is the way out.
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
        if (!connection.IsOpen) Abandon(BrokerFault.Away); // lost before anybody listened
    }

    public IConnection Connection { get; }

    public bool IsOpen => !_lost.Task.IsCompleted && Connection.IsOpen;

    /// <summary>Completes when the connection is lost or given up, with the reason.</summary>
    public Task<string> Lost => _lost.Task;

    /// <summary>Why the broker has stopped reading what is published; null while it reads.</summary>
    public string? BlockReason => _block is { } block ? $"the broker blocks publishers: {block.Reason}" : null;

    /// <summary>For how long.</summary>
    public TimeSpan BlockedFor => _block is { } block ? _time.GetElapsedTime(block.Since) : TimeSpan.Zero;

    /// <summary>Gives the connection up; the next one is opened at once.</summary>
    public void Abandon(string reason) => _lost.TrySetResult(reason);

    public void CountConfirm()
    {
        Volatile.Write(ref _confirmedAt, _time.GetTimestamp());
        if (Volatile.Read(ref _timeouts) > 0) Volatile.Write(ref _timeouts, 0);
    }

    /// <summary>A publish was not confirmed in time. A broker that blocks goes on by itself, and would block a new connection just as well; one that confirmed others meanwhile has a queue that does not answer, not a connection.</summary>
    /// <param name="began">When the publisher began to wait, as a timestamp.</param>
    public void CountTimeout(long began)
    {
        if (_block is null && Volatile.Read(ref _confirmedAt) < began && Interlocked.Increment(ref _timeouts) >= MaxTimeouts) Abandon("the broker does not confirm what is published");
    }

    private void End(ShutdownEventArgs shutdown)
    {
        LogEnded(Connection.ClientProvidedName, shutdown.Initiator, shutdown.ReplyText, shutdown.Exception); // first: whoever hears of the end may look for the cause
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
