using System.Collections.Frozen;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Listening;

/// <summary>Refuses HTTP/2 requests with fields that HTTP/1.1 could not represent: the server validates lines of HTTP/1.1 strictly, but
/// these texts hardly at all.</summary>
internal static class Http2Fields
{
    // RFC 9113, section 8.2.2. The server refuses Connection itself, and TE with more than trailers.
    private static readonly FrozenSet<string> OfConnections = FrozenSet.ToFrozenSet(
        ["Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade"],
        StringComparer.OrdinalIgnoreCase
    );

    /// <exception cref="EsbException"><c>ESB-HTTP-REQUEST</c>: the name of a field is not a token, or belongs to a connection of HTTP/1.1;
    /// <c>ESB-HDR-VALUE</c>: its value is more than one line of text (RFC 9113, section 8.2.1).</exception>
    public static void Require(HttpRequest request)
    {
        if (!HttpProtocol.IsHttp2(request.Protocol))
            return;
        foreach (var (name, values) in request.Headers)
        {
            if (!HeaderRules.IsToken(name))
                throw Refusal("ESB-HTTP-REQUEST", "A header has an invalid name.");
            if (OfConnections.Contains(name))
                throw Refusal("ESB-HTTP-REQUEST", $"HTTP/2 has no {name}.");
            foreach (var value in values)
            {
                if (value is not null && !HeaderRules.IsValue(value))
                    throw Refusal("ESB-HDR-VALUE", "The value of a header has control characters.");
            }
        }
    }

    private static EsbException Refusal(string code, string detail) => HttpProblems.Of(StatusCodes.Status400BadRequest, code, detail);
}
