using Esb.Core.Expressions;
using Esb.Delivery.Modes;
using Esb.Delivery.Outages;

namespace Esb.Delivery.Outbound;

/// <summary>The part of an endpoint that a change of its settings exchanges: how messages are delivered. Thread-safe.</summary>
/// <param name="filter">The condition on messages; null to accept all.</param>
/// <param name="gate">Holds deliveries back during an outage; the next revision continues with it unless the circuit breaker
/// changed.</param>
/// <param name="mode">Delivers.</param>
internal sealed class DeliveryRevision(IMessageCondition? filter, OutageGate gate, IDeliveryMode mode)
{
    private readonly CancellationTokenSource _superseded = new(); // without a timer there is nothing to dispose

    public IMessageCondition? Filter => filter;

    public OutageGate Gate => gate;

    public IDeliveryMode Mode => mode;

    /// <summary>Cancelled when another revision has replaced this one. An attempt under way ends on this one; deliveries that wait for
    /// an attempt make it on the other.</summary>
    public CancellationToken Superseded => _superseded.Token;

    public Task SupersedeAsync() => _superseded.CancelAsync();
}
