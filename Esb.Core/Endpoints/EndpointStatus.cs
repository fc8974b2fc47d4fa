using Esb.Core.Pooling;

namespace Esb.Core.Endpoints;

/// <summary>What an endpoint is doing.</summary>
public enum EndpointState
{
    /// <summary>It is not enabled.</summary>
    Disabled,

    /// <summary>It is coming up, or trying to.</summary>
    Starting,

    /// <summary>Another host of the farm runs it; this one takes over when that one is gone.</summary>
    Standby,

    /// <summary>It works.</summary>
    Running,

    /// <summary>The outside is away, or a store that it needs: it holds its messages and probes. Or its schedule has closed it.</summary>
    Paused,

    /// <summary>An operator paused it.</summary>
    PausedByOperator,

    /// <summary>It stands at a message that failed, to keep the order.</summary>
    Stopped,

    /// <summary>The process died twice while it opened the queue: the queue stays closed until an operator resumes the endpoint.</summary>
    Quarantined,
}

/// <summary>How an endpoint stands right now: a line of <c>/api/endpoints</c>.</summary>
public sealed record EndpointStatus
{
    /// <summary>Its name.</summary>
    public required string Name { get; init; }

    /// <summary>Its type, such as <c>http-inbound</c>.</summary>
    public required string Type { get; init; }

    /// <summary>What it is doing.</summary>
    public required EndpointState State { get; init; }

    /// <summary>Why, where it does not run.</summary>
    public string? Reason { get; init; }

    /// <summary>Messages taken in, or delivered, since the start.</summary>
    public long Messages { get; init; }

    /// <summary>Attempts that failed since the start.</summary>
    public long Failures { get; init; }

    /// <summary>Messages under way.</summary>
    public int InFlight { get; init; }

    /// <summary>The most messages that were under way at once, since the start or since peaks were reset.</summary>
    public int PeakInFlight { get; init; }

    /// <summary>The most messages that may be under way at once on this host: <c>maxConcurrentCalls</c>, or <c>processingThreads</c>.</summary>
    public int? MaxInFlight { get; init; }

    /// <summary>When the last message was done with.</summary>
    public DateTimeOffset? LastMessageAt { get; init; }

    /// <summary>Its pool; null for inbound endpoints.</summary>
    public PoolStatus? Pool { get; init; }

    /// <summary>Deliveries at once; null for inbound endpoints.</summary>
    public int? ProcessingThreads { get; init; }

    /// <summary>What can be tuned, as it holds now; null for inbound endpoints.</summary>
    public EndpointTuning? Current { get; init; }

    /// <summary>What can be tuned, as it was configured; null for inbound endpoints.</summary>
    public EndpointTuning? Configured { get; init; }

    /// <summary>The message that it stands at, to keep the order; null while it does not.</summary>
    public EndpointStandstill? StandsAt { get; init; }

    /// <summary>Attempts that ignore their time-out and still run.</summary>
    public int Stuck { get; init; }
}

/// <summary>An endpoint with <c>delivery</c> <c>ordered</c> stands at a message: everything behind it waits.</summary>
/// <param name="MessageId">The message.</param>
/// <param name="Since">Since when.</param>
/// <param name="Failure">Its last failure.</param>
public sealed record EndpointStandstill(Guid MessageId, DateTimeOffset Since, Storage.FailedAttempt Failure);

/// <summary>Tells how endpoints stand. Thread-safe.</summary>
public interface IEndpointMonitor
{
    /// <summary>The status of each endpoint it knows.</summary>
    IReadOnlyList<EndpointStatus> Endpoints { get; }

    /// <summary>Begins to look for peaks anew.</summary>
    void ResetPeaks()
    {
    }
}
