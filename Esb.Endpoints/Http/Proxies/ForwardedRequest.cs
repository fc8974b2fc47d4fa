using System.Net;

namespace Esb.Endpoints.Http.Proxies;

/// <summary>The data that a trusted proxy supplied about a forwarded request.</summary>
/// <param name="Peer">The proxy.</param>
/// <param name="For">The sender of the request to the proxy, as the proxy reported it.</param>
/// <param name="Host">The requested host; null if the proxy did not report it.</param>
internal sealed record ForwardedRequest(IPAddress Peer, string? For, string? Host);
