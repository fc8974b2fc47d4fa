using Esb.Core.Audit;

namespace Esb.Core.Endpoints;

/// <summary>The settings of an endpoint that an operator may tune; null settings are unchanged, or as configured.</summary>
public sealed record EndpointTuning
{
    /// <summary>Maximum instances on a host, 1..1000.</summary>
    public int? PoolSize { get; init; }

    /// <summary>Concurrent deliveries on a host, 1..1000.</summary>
    public int? ProcessingThreads { get; init; }

    /// <summary>Maximum messages in transit from the broker, 1..10000.</summary>
    public int? Prefetch { get; init; }

    /// <summary>True if delivery, or intake, is paused.</summary>
    public bool? Paused { get; init; }

    /// <summary>Retry policy, as a whole.</summary>
    public RetryTuning? Retry { get; init; }

    /// <summary>Circuit breaker, as a whole.</summary>
    public CircuitBreakerTuning? CircuitBreaker { get; init; }

    /// <summary>Attempts a second on a host, 1..100000; 0 for no limit.</summary>
    public int? Rate { get; init; }

    /// <summary>Amount of its messages that is recorded.</summary>
    public AuditBodies? Audit { get; init; }
}

/// <summary>A retry policy, as <see cref="RetryConfig"/>; settings that are null have their defaults.</summary>
public sealed record RetryTuning
{
    /// <summary>Repetitions without a delay, 0..10.</summary>
    public int? Immediate { get; init; }

    /// <summary>The delay before each further repetition, such as <c>10s</c>.</summary>
    public IReadOnlyList<string>? Delays { get; init; }
}

/// <summary>A circuit breaker, as <see cref="CircuitBreakerConfig"/>; settings that are null have their defaults.</summary>
public sealed record CircuitBreakerTuning
{
    /// <summary>Unanswered attempts in a row after which the endpoint pauses, 2..1000.</summary>
    public int? Failures { get; init; }

    /// <summary>Longest time between two probes, such as <c>30s</c>.</summary>
    public string? Probe { get; init; }
}
