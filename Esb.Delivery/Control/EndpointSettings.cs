using Esb.Core.Endpoints;
using Esb.Core.Topics;

namespace Esb.Delivery.Control;

/// <summary>The settings of an outbound endpoint in one revision, under those that an operator tuned. Immutable.</summary>
internal sealed class EndpointSettings
{
    /// <param name="model">The endpoint as configured.</param>
    /// <param name="tuned">The tuned settings, also those that the configuration forbids.</param>
    public EndpointSettings(OutboundModel model, EndpointTuning tuned)
    {
        var applied = EndpointTunings.Applicable(model.Config, tuned);
        (Model, Tuned) = (model, tuned);
        Config = EndpointTunings.Over(model.Config, applied);
        Configured = EndpointTunings.Of(model.Config);
        Current = EndpointTunings.Change(model.Config, Configured, applied);
        Subscription = Subscription.Of(Config) with { Concurrency = Current.ProcessingThreads!.Value, Prefetch = Current.Prefetch!.Value };
    }

    public OutboundModel Model { get; }

    /// <summary>The configuration with the tuned <c>retry</c> and <c>circuitBreaker</c>.</summary>
    public OutboundEndpointConfig Config { get; }

    public EndpointTuning Tuned { get; }

    /// <summary>The tunable settings as configured.</summary>
    public EndpointTuning Configured { get; }

    /// <summary>The tunable settings as they apply.</summary>
    public EndpointTuning Current { get; }

    public Subscription Subscription { get; }

    public bool IsPaused => Current.Paused == true;

    /// <summary>True if a running endpoint can take the other settings over: its instances and its subscription remain.</summary>
    public bool CanBecome(EndpointSettings next) =>
        Model.AdapterFingerprint == next.Model.AdapterFingerprint
        && Subscription.Patterns.SequenceEqual(next.Subscription.Patterns)
        && Subscription.RetryDelays.SequenceEqual(next.Subscription.RetryDelays);

    /// <summary>True if messages are delivered in the same way: at most numbers, the pause and the audit were tuned.</summary>
    public bool DeliversLike(EndpointSettings other) =>
        ReferenceEquals(Model, other.Model)
        && Config.Retry.Immediate == other.Config.Retry.Immediate
        && Config.Retry.Delays.SequenceEqual(other.Config.Retry.Delays)
        && HasBreakerOf(other);

    /// <summary>True if the circuit breaker has the same settings.</summary>
    public bool HasBreakerOf(EndpointSettings other) =>
        (Config.CircuitBreaker.Failures, Config.CircuitBreaker.Probe)
        == (other.Config.CircuitBreaker.Failures, other.Config.CircuitBreaker.Probe);
}
