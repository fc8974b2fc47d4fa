using Esb.Core.Storage;

namespace Esb.Core.Endpoints;

/// <summary>Changes the endpoints of this host while they work. Thread-safe. Other hosts hear of it elsewhere.</summary>
public interface IEndpointControl
{
    /// <summary>What would be wrong with a change: one text for each setting that contradicts the endpoint's <c>delivery</c> or is out of range; empty where nothing is.</summary>
    IReadOnlyList<string> Check(string endpoint, EndpointTuning tuning);

    /// <summary>Changes what is not null, without losing, doubling or reordering a message; done when this returns.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-ENDPOINT-UNKNOWN</c>, or <c>ESB-ENDPOINT-TUNING</c> with what <see cref="Check"/> says.</exception>
    Task TuneAsync(string endpoint, EndpointTuning tuning, CancellationToken cancellationToken);

    /// <summary>For an endpoint that stands at a failed message to keep the order: tries it again now, or gives it up and goes on with the next.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="messageId">The message that it should stand at.</param>
    /// <param name="discard">Whether to give it up.</param>
    /// <param name="decision">Who wants that, and why: recorded with what is given up. Null where an older host asks for somebody.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <returns>Whether it stands at this message here.</returns>
    Task<bool> MoveOnAsync(string endpoint, Guid messageId, bool discard, OperatorDecision? decision, CancellationToken cancellationToken);
}

/// <summary>A change of an endpoint; what is null stays as it is. It holds until the host ends: then the configuration counts again.</summary>
public sealed record EndpointTuning
{
    /// <summary>Instances that may exist at once on a host, 1..1000.</summary>
    public int? PoolSize { get; init; }

    /// <summary>Deliveries at once on a host, 1..1000.</summary>
    public int? ProcessingThreads { get; init; }

    /// <summary>Messages that may be on their way from the broker, 1..10000.</summary>
    public int? Prefetch { get; init; }

    /// <summary>Whether it delivers nothing, or takes nothing in, for now; the only one of an inbound endpoint.</summary>
    public bool? Paused { get; init; }
}
