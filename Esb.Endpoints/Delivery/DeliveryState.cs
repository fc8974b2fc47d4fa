using Esb.Core.Endpoints;

namespace Esb.Endpoints.Delivery;

/// <summary>What changes about an outbound endpoint while it runs. Thread-safe.</summary>
internal sealed class DeliveryState(TimeProvider time)
{
    private long _messages;
    private long _failures;
    private int _inFlight;
    private long _lastMessageAt;
    private volatile string? _stoppedAt;

    /// <summary>At which message it stands, to keep the order; null while it does not.</summary>
    public string? StoppedAt
    {
        get => _stoppedAt;
        set => _stoppedAt = value;
    }

    public void Begin() => Interlocked.Increment(ref _inFlight);

    public void End() => Interlocked.Decrement(ref _inFlight);

    public void CountFailure() => Interlocked.Increment(ref _failures);

    public void CountMessage()
    {
        Interlocked.Increment(ref _messages);
        Interlocked.Exchange(ref _lastMessageAt, time.GetUtcNow().UtcTicks);
    }

    public EndpointStatus Describe(OutboundEndpointConfig config, string type, string? outage, string? unreachable, bool isLive) => new()
    {
        Name = config.Name,
        Type = type,
        State = StateOf(config, outage, isLive),
        Reason = _stoppedAt ?? outage ?? unreachable,
        Messages = Interlocked.Read(ref _messages),
        Failures = Interlocked.Read(ref _failures),
        InFlight = Volatile.Read(ref _inFlight),
        LastMessageAt = Interlocked.Read(ref _lastMessageAt) is > 0 and var ticks ? new DateTimeOffset(ticks, TimeSpan.Zero) : null,
        ProcessingThreads = config.ProcessingThreads,
    };

    private EndpointState StateOf(OutboundEndpointConfig config, string? outage, bool isLive)
    {
        if (!config.Enabled) return EndpointState.Disabled;
        if (_stoppedAt is not null) return EndpointState.Stopped;
        if (outage is not null) return EndpointState.Paused;
        return isLive ? EndpointState.Running : EndpointState.Starting;
    }
}
