using System.Net;

namespace Esb.Endpoints.Http.Proxies;

/// <summary>What a trusted proxy said of the request that it passed on.</summary>
/// <param name="Peer">The proxy.</param>
/// <param name="For">By whom the request came to it, as it said.</param>
/// <param name="Host">For which host it was; null where the proxy did not say.</param>
internal sealed record ForwardedRequest(IPAddress Peer, string? For, string? Host);
