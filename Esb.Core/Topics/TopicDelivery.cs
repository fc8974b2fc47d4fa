using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Core.Topics;

/// <summary>How a message came to the queue of an endpoint.</summary>
public enum DeliveryKind
{
    /// <summary>It was published to a topic.</summary>
    Published,

    /// <summary>An operator sent it again, to this endpoint alone.</summary>
    Replay,

    /// <summary>No message: the parked messages of its key may be tried again.</summary>
    Release,
}

/// <summary>A message that a transport hands to an endpoint.</summary>
/// <param name="Message">The message; its <see cref="EsbMessage.Attempt"/> counts the attempts that were settled as <see cref="Settlement.Later"/> before.</param>
/// <param name="Parent">The trace that it belongs to; default where it came without one.</param>
/// <param name="Reply">Sends the answer to whoever asked; null where nobody waits for one.</param>
public sealed record TopicDelivery(EsbMessage Message, ActivityContext Parent, ReplySender? Reply)
{
    /// <summary>How it came to the queue.</summary>
    public DeliveryKind Kind { get; init; }

    /// <summary>What became of the attempts before, oldest first.</summary>
    public IReadOnlyList<FailedAttempt> Failures { get; init; } = [];

    /// <summary>Where it came from.</summary>
    public DeliverySource Source { get; init; } = DeliverySource.Local;

    /// <summary>How often the broker delivered it before and never heard what became of it, because a process died or a connection was lost; as far as is known, not to this process.</summary>
    public int Redeliveries { get; init; }

    /// <summary>When the requester stops waiting; null where nobody waits, or for ever.</summary>
    public DateTimeOffset? ExpiresAt { get; init; }
}

/// <summary>The stream that deliveries come by: a queue, as one consumer sees it from its first delivery to the loss of its channel.</summary>
/// <param name="Lane">The number of the lane, from 0; 0 where there is only one.</param>
/// <param name="Session">A new value whenever the transport begins to receive anew: meanwhile another host may have received.</param>
/// <param name="Lost">Cancelled when the channel is lost: from then on others may have what was delivered here.</param>
public sealed record DeliverySource(int Lane, Guid Session, CancellationToken Lost)
{
    /// <summary>A queue of this process alone, which it cannot lose.</summary>
    public static DeliverySource Local { get; } = new(0, Guid.Empty, CancellationToken.None);
}

/// <summary>Sends the answer to a request, once; repeats until somebody has it or the time of the request is over. An answer that finds nobody any more is no error.</summary>
/// <returns>Whether it was handed over; false where nobody waits for it any more.</returns>
public delegate ValueTask<bool> ReplySender(EsbMessage reply, CancellationToken cancellationToken);
