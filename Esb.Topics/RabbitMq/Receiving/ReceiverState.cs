using Esb.Topics.RabbitMq.Connections;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Tracks whether a receiver consumes, and the reason if it does not; logs each change once. Thread-safe.</summary>
internal sealed partial class ReceiverState(string endpoint, ILogger logger)
{
    // A single queue about which the broker reports nothing, perhaps without a leader, must not keep a host unready forever.
    private const int MaxUnanswered = 3;

    private readonly TaskCompletionSource _tried = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile string? _reason = "starting";
    private int _unanswered;

    public string? Reason => _reason;

    /// <summary>Completes once the queue was declared or refused: messages published before may not find it.</summary>
    public Task FirstAttempt => _tried.Task;

    public void Consumes()
    {
        _tried.TrySetResult();
        if (_reason is null)
            return;
        _reason = null;
        LogConsuming(endpoint);
    }

    /// <param name="exception">The reason why it does not consume.</param>
    /// <param name="isConnected">True if its connection is still open: a lost connection says nothing about the queue.</param>
    /// <param name="backoff">Waits longer if the operator has to act.</param>
    public void IsInterrupted(Exception exception, bool isConnected, Backoff backoff)
    {
        var reason = BrokerFault.Describe(exception);
        var isForPeople = BrokerFault.IsForPeople(reason);
        if (isForPeople)
            backoff.Stretch();
        if (_reason != reason && isForPeople)
            LogRefused(endpoint, reason);
        else if (_reason != reason)
            LogInterrupted(endpoint, reason);
        _reason = reason;
        if (reason != BrokerFault.Away || (isConnected && Interlocked.Increment(ref _unanswered) >= MaxUnanswered))
            _tried.TrySetResult();
    }

    public void IsInterrupted(string reason)
    {
        if (_reason != reason)
            LogInterrupted(endpoint, reason);
        _reason = reason;
    }

    [LoggerMessage(EventId = 1521, Level = LogLevel.Information, Message = "Endpoint {Endpoint} consumes its queue")]
    private partial void LogConsuming(string endpoint);

    [LoggerMessage(EventId = 1527, Level = LogLevel.Error, Message = "Endpoint {Endpoint} cannot consume its queue: {Reason}")]
    private partial void LogRefused(string endpoint, string reason);

    [LoggerMessage(
        EventId = 1522,
        Level = LogLevel.Warning,
        Message = "Endpoint {Endpoint} does not consume its queue: {Reason}; trying again until it does"
    )]
    private partial void LogInterrupted(string endpoint, string reason);
}
