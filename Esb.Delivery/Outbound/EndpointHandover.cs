using Esb.Core.Endpoints;

namespace Esb.Delivery.Outbound;

/// <summary>The state that an endpoint keeps across a change of its settings.</summary>
/// <param name="State">The counters.</param>
/// <param name="Tuned">The values that an operator changed; null for a value that was as configured.</param>
internal sealed record EndpointHandover(DeliveryState State, EndpointTuning Tuned);
