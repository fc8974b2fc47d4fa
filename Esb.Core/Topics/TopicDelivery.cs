using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Core.Topics;

/// <summary>Kinds of deliveries in the queue of an endpoint.</summary>
public enum DeliveryKind
{
    /// <summary>It was published to a topic.</summary>
    Published,

    /// <summary>An operator replayed it, or the bus continues its process: it was sent to this endpoint only.</summary>
    Replay,

    /// <summary>No message: parked messages of its key may be retried.</summary>
    Release,
}

/// <summary>A message that a transport delivers to an endpoint.</summary>
/// <param name="Message">The message; its <see cref="EsbMessage.Attempt"/> counts the earlier attempts that were settled as
/// <see cref="Settlement.Later"/>.</param>
/// <param name="Parent">The trace of the message; default if it came without one.</param>
/// <param name="Reply">Sends the answer to the requester; null if no requester waits for one.</param>
public sealed record TopicDelivery(EsbMessage Message, ActivityContext Parent, ReplySender? Reply)
{
    /// <summary>Kind of the delivery.</summary>
    public DeliveryKind Kind { get; init; }

    /// <summary>Makes the text of where the answer goes, which outlives this process (<see cref="IReplyAddresses"/>); null if no requester
    /// waits.</summary>
    public Func<string>? ReplyAddress { get; init; }

    /// <summary>Failures of earlier attempts, oldest first.</summary>
    public IReadOnlyList<FailedAttempt> Failures { get; init; } = [];

    /// <summary>The stream by which it came.</summary>
    public DeliverySource Source { get; init; } = DeliverySource.Local;

    /// <summary>Number of earlier deliveries by the broker that were never settled, because a process died or a connection was lost; as far
    /// as is known, not to this process.</summary>
    public int Redeliveries { get; init; }

    /// <summary>Time at which the requester stops waiting; null if no requester waits, or if it waits forever.</summary>
    public DateTimeOffset? ExpiresAt { get; init; }
}

/// <summary>A stream of deliveries: a queue, as one consumer sees it from its first delivery to the loss of its channel.</summary>
/// <param name="Lane">Number of the lane, from 0; 0 if there is only one.</param>
/// <param name="Session">A new value whenever the transport starts receiving again: another host may have received in between.</param>
/// <param name="Lost">Cancelled when the channel is lost: from then on, other consumers may get the messages delivered here.</param>
public sealed record DeliverySource(int Lane, Guid Session, CancellationToken Lost)
{
    /// <summary>A queue of this process only, which it cannot lose.</summary>
    public static DeliverySource Local { get; } = new(0, Guid.Empty, CancellationToken.None);
}

/// <summary>Sends the answer to a request, once; retries until it is accepted or the request has expired. An answer without a waiting
/// requester is not an error.</summary>
/// <returns>True if it was handed over; false if no requester waits for it any more.</returns>
public delegate ValueTask<bool> ReplySender(EsbMessage reply, CancellationToken cancellationToken);
