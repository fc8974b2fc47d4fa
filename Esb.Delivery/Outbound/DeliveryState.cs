using Esb.Core.Endpoints;
using Esb.Core.Storage;

namespace Esb.Delivery.Outbound;

/// <summary>The run-time state of an outbound endpoint. Thread-safe.</summary>
internal sealed class DeliveryState(TimeProvider time)
{
    private readonly PeakCount _inFlight = new();
    private long _messages;
    private long _failures;
    private long _lastMessageAt;
    private volatile EndpointStandstill? _standsAt;
    private EndpointStandstill? _lastStandstill;
    private volatile string? _trouble;

    /// <summary>The message that blocks the endpoint, to keep the order; null if none.</summary>
    public EndpointStandstill? StandsAt => _standsAt;

    /// <summary>The reason why the endpoint waits for a store of the bus; null if it does not.</summary>
    public string? Trouble
    {
        get => _trouble;
        set => _trouble = value;
    }

    public void Begin() => _inFlight.Increment();

    public void End() => _inFlight.Decrement();

    public void ResetPeaks() => _inFlight.ResetPeak();

    public void CountFailure() => Interlocked.Increment(ref _failures);

    public void CountMessage()
    {
        Interlocked.Increment(ref _messages);
        Interlocked.Exchange(ref _lastMessageAt, time.GetUtcNow().UtcTicks);
    }

    /// <summary>Records that a message blocks the endpoint. A message that blocks it again does so since the first time. For one delivery
    /// at a time.</summary>
    /// <returns>True if it is another message than the last one.</returns>
    public bool StandAt(Guid messageId, FailedAttempt failed)
    {
        var known = _lastStandstill?.MessageId == messageId ? _lastStandstill : null;
        _standsAt = _lastStandstill = new EndpointStandstill(messageId, known?.Since ?? time.GetUtcNow(), failed);
        return known is null;
    }

    /// <summary>Records that no message blocks the endpoint.</summary>
    public void MoveOn() => _standsAt = null;

    /// <param name="config">The configured settings.</param>
    /// <param name="type">The endpoint type, as named in the configuration.</param>
    /// <param name="current">The effective settings.</param>
    /// <param name="outage">The reason for an automatic pause; null if there is no such pause.</param>
    /// <param name="isLive">True if messages can arrive.</param>
    /// <param name="obstacle">The reason why messages cannot arrive; null if none is known.</param>
    public EndpointStatus Describe(
        OutboundEndpointConfig config,
        string type,
        EndpointTuning current,
        string? outage,
        bool isLive,
        string? obstacle
    )
    {
        var waits = outage ?? _trouble;
        var stands = _standsAt;
        return new EndpointStatus
        {
            Name = config.Name,
            Type = type,
            State = StateOf(config, current.Paused == true, stands is not null, waits is not null, isLive),
            Reason = stands is null
                ? waits ?? obstacle
                : $"stopped at message {stands.MessageId}: {stands.Failure.Code}: {stands.Failure.Reason}",
            Messages = Interlocked.Read(ref _messages),
            Failures = Interlocked.Read(ref _failures),
            InFlight = _inFlight.Value,
            PeakInFlight = _inFlight.Peak,
            MaxInFlight = current.ProcessingThreads,
            LastMessageAt = Interlocked.Read(ref _lastMessageAt) is > 0 and var ticks ? new DateTimeOffset(ticks, TimeSpan.Zero) : null,
            ProcessingThreads = current.ProcessingThreads,
            Current = current,
            StandsAt = stands,
        };
    }

    private static EndpointState StateOf(OutboundEndpointConfig config, bool isPaused, bool stands, bool waits, bool isLive)
    {
        if (!config.Enabled)
            return EndpointState.Disabled;
        if (isPaused)
            return EndpointState.PausedByOperator;
        if (stands)
            return EndpointState.Stopped;
        if (waits)
            return EndpointState.Paused;
        return isLive ? EndpointState.Running : EndpointState.Starting;
    }
}
