using Esb.Core.Endpoints;

namespace Esb.Delivery.Control;

/// <summary>Command to the hosts of a farm to change an endpoint.</summary>
internal sealed record TuneEndpoint(string Endpoint, EndpointTuning Tuning);
