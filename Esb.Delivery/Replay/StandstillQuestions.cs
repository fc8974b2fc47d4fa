using Esb.Core.Endpoints;
using Esb.Core.Storage;

namespace Esb.Delivery.Replay;

/// <summary>Queries a host for its blocked endpoints; answered by <see cref="StandstillList"/>.</summary>
internal sealed record ListStandstills(string? Endpoint);

/// <summary>The blocked endpoints of a host.</summary>
internal sealed record StandstillList(IReadOnlyList<StandingEndpoint> Standing);

/// <summary>An endpoint that is blocked by a message.</summary>
internal sealed record StandingEndpoint(string Endpoint, EndpointStandstill At);

/// <summary>Requests a host to unblock an endpoint, if it is blocked there; answered by <see cref="MovedOn"/>.</summary>
internal sealed record MoveOnStandstill(string Endpoint, Guid? MessageId, bool Discard, OperatorDecision? Decision);

/// <summary>Indicates whether the endpoint was blocked there and continues.</summary>
internal sealed record MovedOn(bool IsDone);
