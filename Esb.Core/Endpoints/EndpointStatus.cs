using Esb.Core.Pooling;

namespace Esb.Core.Endpoints;

/// <summary>State of an endpoint.</summary>
public enum EndpointState
{
    /// <summary>It is not enabled.</summary>
    Disabled,

    /// <summary>It is starting, or retrying to start.</summary>
    Starting,

    /// <summary>Another host of the farm runs it; this host takes over when that host is gone.</summary>
    Standby,

    /// <summary>It is running.</summary>
    Running,

    /// <summary>The external system, or a store that it needs, is unreachable: it holds its messages and probes. Or its schedule has closed
    /// it.</summary>
    Paused,

    /// <summary>An operator paused it.</summary>
    PausedByOperator,

    /// <summary>It is blocked at a failed message, to keep the order.</summary>
    Stopped,

    /// <summary>The process died twice while it opened the queue: the queue stays closed until an operator resumes the endpoint.</summary>
    Quarantined,
}

/// <summary>Current status of an endpoint: a line of <c>/api/endpoints</c>.</summary>
public sealed record EndpointStatus
{
    /// <summary>Its name.</summary>
    public required string Name { get; init; }

    /// <summary>Its type, such as <c>http-inbound</c>.</summary>
    public required string Type { get; init; }

    /// <summary>Its state.</summary>
    public required EndpointState State { get; init; }

    /// <summary>Reason why it does not run.</summary>
    public string? Reason { get; init; }

    /// <summary>True if it failed to start, and will not start without another configuration.</summary>
    public bool HasFailed { get; init; }

    /// <summary>Messages received, or delivered, since the start.</summary>
    public long Messages { get; init; }

    /// <summary>Failed attempts since the start.</summary>
    public long Failures { get; init; }

    /// <summary>In-flight messages.</summary>
    public int InFlight { get; init; }

    /// <summary>Peak of in-flight messages, since the start or since peaks were reset.</summary>
    public int PeakInFlight { get; init; }

    /// <summary>Maximum in-flight messages on this host: <c>maxConcurrentCalls</c>, or <c>processingThreads</c>.</summary>
    public int? MaxInFlight { get; init; }

    /// <summary>Time at which the last message was completed.</summary>
    public DateTimeOffset? LastMessageAt { get; init; }

    /// <summary>Its pool; null for inbound endpoints.</summary>
    public PoolStatus? Pool { get; init; }

    /// <summary>Concurrent deliveries; null for inbound endpoints.</summary>
    public int? ProcessingThreads { get; init; }

    /// <summary>Settings that can be tuned, as they hold now; null for inbound endpoints.</summary>
    public EndpointTuning? Current { get; init; }

    /// <summary>Settings that can be tuned, as configured; null for inbound endpoints.</summary>
    public EndpointTuning? Configured { get; init; }

    /// <summary>The settings that operators tuned, by whom and when; null if none.</summary>
    public IReadOnlyList<Storage.TunedSetting>? Tuned { get; init; }

    /// <summary>A sentence about the size of its pool, by the measured use; null while too little is known.</summary>
    public string? Sizing { get; init; }

    /// <summary>The message at which it is blocked, to keep the order; null if not blocked.</summary>
    public EndpointStandstill? StandsAt { get; init; }

    /// <summary>Attempts that ignore their time-out and still run.</summary>
    public int Stuck { get; init; }
}

/// <summary>An endpoint with <c>delivery</c> <c>ordered</c> is blocked at a message: all messages behind it wait.</summary>
/// <param name="MessageId">The message.</param>
/// <param name="Since">Time since when it is blocked.</param>
/// <param name="Failure">Its last failure.</param>
public sealed record EndpointStandstill(Guid MessageId, DateTimeOffset Since, Storage.FailedAttempt Failure);

/// <summary>Reports the status of endpoints. Thread-safe.</summary>
public interface IEndpointMonitor
{
    /// <summary>Status of each known endpoint.</summary>
    IReadOnlyList<EndpointStatus> Endpoints { get; }

    /// <summary>Resets the peaks.</summary>
    void ResetPeaks() { }
}
