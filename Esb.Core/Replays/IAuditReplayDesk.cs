using Esb.Core.Storage;

namespace Esb.Core.Replays;

/// <summary>Sends messages again as the audit recorded them; everything is recorded. Thread-safe.</summary>
public interface IAuditReplayDesk
{
    /// <summary>Puts a recorded message into the queue of an endpoint, with its own id. Asked again under the same command, or by a message that has been replayed there, it sends nothing.</summary>
    /// <exception cref="Errors.EsbException">
    /// <c>ESB-RPL-STATE</c>: nothing is recorded of the message, it was replayed there already, or its body is not there as it was: not recorded, masked, cut, erased, expired.
    /// <c>ESB-REPLAY-ENDPOINT</c>, <c>ESB-REPLAY-ORDER</c>: as for dead letters. Otherwise it could not be sent, or not be recorded.
    /// </exception>
    Task<AuditReplay> ReplayAsync(AuditReplayRequest request, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>What keeps messages from being sent to an endpoint at all; null where nothing does.</summary>
    Errors.EsbException? ObstacleAt(string endpoint, bool outOfOrder);
}

/// <summary>What an operator wants sent again out of the audit, and where to. Immutable.</summary>
public sealed record AuditReplayRequest
{
    /// <summary>The message.</summary>
    public required Guid MessageId { get; init; }

    /// <summary>The endpoint whose queue gets it.</summary>
    public required string Endpoint { get; init; }

    /// <summary>The fact whose body is sent; null for the body as it was published, or came in where no process could change it.</summary>
    public Guid? Fact { get; init; }

    /// <summary>That it may go there although it was replayed there already.</summary>
    public bool Again { get; init; }

    /// <summary>That it may arrive behind later messages, which an endpoint that delivers in order otherwise refuses.</summary>
    public bool OutOfOrder { get; init; }

    /// <summary>The client's name for this command; null where it has none.</summary>
    public string? Command { get; init; }
}

/// <summary>A message that was sent again out of the audit.</summary>
/// <param name="MessageId">The message.</param>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Fact">The fact whose body was sent.</param>
/// <param name="ReplayedAt">When it was confirmed.</param>
public sealed record AuditReplay(Guid MessageId, string Endpoint, Guid Fact, DateTimeOffset ReplayedAt);
