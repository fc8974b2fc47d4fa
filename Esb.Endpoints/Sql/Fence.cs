namespace Esb.Endpoints.Sql;

/// <summary>The token that an endpoint shows in the transaction of its effect, so that it has no effect after another host has taken over
/// (pattern: fencing token).</summary>
/// <param name="Bus">The configuration's name.</param>
/// <param name="Endpoint">The endpoint; it has its own lease.</param>
/// <param name="Token">Grows with every new lease.</param>
internal sealed record Fence(string Bus, string Endpoint, long Token);
