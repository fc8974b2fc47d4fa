namespace Esb.Endpoints.Sql;

/// <summary>What an endpoint shows in the transaction of its effect, so that it has none when another host has taken over (pattern: fencing token).</summary>
/// <param name="Bus">The configuration's name.</param>
/// <param name="Endpoint">Its lease is one of its own.</param>
/// <param name="Token">Grows with every new lease.</param>
internal sealed record Fence(string Bus, string Endpoint, long Token);
