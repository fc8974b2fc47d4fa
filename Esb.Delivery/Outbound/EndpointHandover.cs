using Esb.Core.Endpoints;

namespace Esb.Delivery.Outbound;

/// <summary>What an endpoint keeps when it goes on with other settings.</summary>
/// <param name="State">Its counts.</param>
/// <param name="Tuned">What an operator has changed; null where the configured value held.</param>
internal sealed record EndpointHandover(DeliveryState State, EndpointTuning Tuned);
