using Esb.Core.Storage;

namespace Esb.Core.Endpoints;

/// <summary>Changes the endpoints of this host at run time. Thread-safe. Other hosts are notified separately.</summary>
public interface IEndpointControl
{
    /// <summary>Validates a change: one text for each setting that contradicts the endpoint's <c>delivery</c> or is out of range; empty if
    /// valid.</summary>
    IReadOnlyList<string> Check(string endpoint, EndpointTuning tuning);

    /// <summary>Applies all settings that are not null, without losing, duplicating or reordering a message; applied when it
    /// returns.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-ENDPOINT-UNKNOWN</c>, or <c>ESB-ENDPOINT-TUNING</c> with the texts of
    /// <see cref="Check"/>.</exception>
    Task TuneAsync(string endpoint, EndpointTuning tuning, CancellationToken cancellationToken);

    /// <summary>Makes these the tuned settings of an endpoint: all others are as configured. Applied when it returns, as by
    /// <see cref="TuneAsync"/>.</summary>
    /// <exception cref="Errors.EsbException">As <see cref="TuneAsync"/>.</exception>
    Task SetAsync(string endpoint, EndpointTuning tuned, CancellationToken cancellationToken);

    /// <summary>The settings of an endpoint that can be tuned, as configured; null if it does not exist.</summary>
    EndpointTuning? ConfiguredOf(string endpoint);

    /// <summary>The tuned settings that the endpoint's configuration forbids, one text each; empty if all apply.</summary>
    IReadOnlyList<string> SetAsideOf(string endpoint);

    /// <summary>Retries, or discards, the failed message at which an ordered endpoint is blocked; after a discard, delivery continues with
    /// the next message.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="messageId">The message at which it is expected to be blocked.</param>
    /// <param name="discard">True to discard the message.</param>
    /// <param name="decision">The operator and the reason, recorded with the discarded message. Null if forwarded by an older host.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    /// <returns>True if it is blocked at this message on this host.</returns>
    Task<bool> MoveOnAsync(string endpoint, Guid messageId, bool discard, OperatorDecision? decision, CancellationToken cancellationToken);
}
