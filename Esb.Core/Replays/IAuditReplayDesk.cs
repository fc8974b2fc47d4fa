using Esb.Core.Storage;

namespace Esb.Core.Replays;

/// <summary>Replays messages as the audit recorded them; every action is recorded. Thread-safe.</summary>
public interface IAuditReplayDesk
{
    /// <summary>Puts a recorded message into the queue of an endpoint, with its own id. A repeated command, or a message already replayed
    /// there, sends nothing.</summary>
    /// <exception cref="Errors.EsbException">
    /// <c>ESB-RPL-STATE</c>: the message is not recorded, was already replayed there, or its original body is unavailable: not recorded,
    /// masked, cut, erased, expired.
    /// <c>ESB-REPLAY-ENDPOINT</c>, <c>ESB-REPLAY-ORDER</c>: as for dead letters. Otherwise, it could not be sent, or not be recorded.
    /// </exception>
    Task<AuditReplay> ReplayAsync(AuditReplayRequest request, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Returns the reason why no message can be sent to an endpoint; null if none.</summary>
    Errors.EsbException? ObstacleAt(string endpoint, bool outOfOrder);
}

/// <summary>An operator's request to replay a message from the audit. Immutable.</summary>
public sealed record AuditReplayRequest
{
    /// <summary>The message.</summary>
    public required Guid MessageId { get; init; }

    /// <summary>The endpoint whose queue receives it.</summary>
    public required string Endpoint { get; init; }

    /// <summary>The fact whose body is sent; null for the published body, or the received body if no process could change it.</summary>
    public Guid? Fact { get; init; }

    /// <summary>True if it may be sent there although it was already replayed there.</summary>
    public bool Again { get; init; }

    /// <summary>True if it may arrive after later messages, which an endpoint that delivers in order otherwise rejects.</summary>
    public bool OutOfOrder { get; init; }

    /// <summary>The client's name for this command; null if none.</summary>
    public string? Command { get; init; }
}

/// <summary>A message replayed from the audit.</summary>
/// <param name="MessageId">The message.</param>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Fact">The fact whose body was sent.</param>
/// <param name="ReplayedAt">Time of confirmation.</param>
public sealed record AuditReplay(Guid MessageId, string Endpoint, Guid Fact, DateTimeOffset ReplayedAt);
