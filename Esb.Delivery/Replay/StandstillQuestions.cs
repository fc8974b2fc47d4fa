using Esb.Core.Endpoints;
using Esb.Core.Storage;

namespace Esb.Delivery.Replay;

/// <summary>Asks a host which of its endpoints stand at a message; answered by <see cref="StandstillList"/>.</summary>
internal sealed record ListStandstills(string? Endpoint);

/// <summary>The endpoints that stand at a message on a host.</summary>
internal sealed record StandstillList(IReadOnlyList<StandingEndpoint> Standing);

/// <summary>An endpoint that stands at a message.</summary>
internal sealed record StandingEndpoint(string Endpoint, EndpointStandstill At);

/// <summary>Asks a host to move an endpoint on, where it stands there; answered by <see cref="MovedOn"/>.</summary>
internal sealed record MoveOnStandstill(string Endpoint, Guid? MessageId, bool Discard, OperatorDecision? Decision);

/// <summary>Whether it stood there and moves on.</summary>
internal sealed record MovedOn(bool IsDone);
