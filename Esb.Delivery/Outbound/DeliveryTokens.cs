using Esb.Delivery.SingleInstance;

namespace Esb.Delivery.Outbound;

/// <summary>What ends a delivery before its time.</summary>
/// <param name="Waiting">Cancelled when what only waits is to go back to its queue: the endpoint stops, or the message has been held long enough.</param>
/// <param name="Aborting">Cancelled when also what is being sent is to end.</param>
/// <param name="Lease">The lease under which it is delivered; null where any host may deliver.</param>
internal readonly record struct DeliveryTokens(CancellationToken Waiting, CancellationToken Aborting, HeldLease? Lease = null)
{
    /// <summary>Looks once more whether the message is this host's, whatever the timers have told by now.</summary>
    /// <exception cref="OperationCanceledException">Another host may have it: it goes back to its queue.</exception>
    public void ThrowIfLost()
    {
        if (Lease is { IsHeld: false }) throw new OperationCanceledException(Lease.Lost);
    }
}
