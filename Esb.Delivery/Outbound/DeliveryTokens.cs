using Esb.Delivery.SingleInstance;

namespace Esb.Delivery.Outbound;

/// <summary>The cancellation tokens of a delivery.</summary>
/// <param name="Waiting">Cancelled when a delivery that waits for an attempt must no longer wait: with <paramref name="Leaving"/>, and when
/// other settings apply from the next attempt on.</param>
/// <param name="Leaving">Cancelled when deliveries must return to their queue, except for sends in progress: the endpoint stops, or the
/// holding time is exhausted.</param>
/// <param name="Aborting">Cancelled when sends in progress must end as well.</param>
/// <param name="Lease">The lease under which the message is delivered; null if any host may deliver.</param>
internal readonly record struct DeliveryTokens(
    CancellationToken Waiting,
    CancellationToken Leaving,
    CancellationToken Aborting,
    HeldLease? Lease = null
)
{
    /// <summary>Verifies that this host still holds the lease, independent of timers.</summary>
    /// <exception cref="OperationCanceledException">Another host may own the message: it returns to its queue.</exception>
    public void ThrowIfLost()
    {
        if (Lease is { IsHeld: false })
            throw new OperationCanceledException(Lease.Lost);
    }
}
