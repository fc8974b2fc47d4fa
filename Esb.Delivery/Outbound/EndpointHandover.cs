namespace Esb.Delivery.Outbound;

/// <summary>The state that an endpoint keeps across a change of its settings.</summary>
/// <param name="State">The counters.</param>
internal sealed record EndpointHandover(DeliveryState State);
