using Esb.Core.Errors;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Endpoints.Http.Listening;

/// <summary>Refuses requests that would change the protocol of a connection.</summary>
/// <remarks>
/// Only <c>Upgrade: h2c</c> is ignored, as RFC 9110, section 7.8, allows and RFC 9113, section 3.1, asks: widespread clients send it with
/// every first request and continue in HTTP/1.1. It is never forwarded. A WebSocket or a tunnel has no such alternative.
/// </remarks>
internal static class ProtocolChanges
{
    /// <exception cref="EsbException"><c>ESB-HTTP-UPGRADE</c>.</exception>
    public static void Refuse(HttpContext context)
    {
        var request = context.Request;
        if (HttpMethods.IsConnect(request.Method) || context.Features.Get<IHttpExtendedConnectFeature>()?.IsExtendedConnect == true)
            throw Refusal("Tunnels (CONNECT) are not offered here.");
        if (request.Headers.Upgrade.Count > 0 && !request.Headers.Upgrade.ToString().Equals("h2c", StringComparison.OrdinalIgnoreCase))
            throw Refusal("Upgrades to another protocol, such as WebSocket, are not offered here.");
    }

    private static EsbException Refusal(string detail) => HttpProblems.Of(StatusCodes.Status501NotImplemented, "ESB-HTTP-UPGRADE", detail);
}
