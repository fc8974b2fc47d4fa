using System.Collections.Frozen;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>The fields that may follow a body: none that frames, routes, authenticates or describes it, because a recipient may already
/// have acted on those (RFC 9110, section 6.5.1).</summary>
internal static class TrailerFields
{
    private static readonly FrozenSet<string> Forbidden = FrozenSet.ToFrozenSet(
        [
            "Age",
            "Authorization",
            "Cache-Control",
            "Content-Encoding",
            "Content-Range",
            "Content-Type",
            "Cookie",
            "Date",
            "Expires",
            "Forwarded",
            "If-Match",
            "If-Modified-Since",
            "If-None-Match",
            "If-Range",
            "If-Unmodified-Since",
            "Location",
            "Max-Forwards",
            "Pragma",
            "Range",
            "Retry-After",
            "Set-Cookie",
            "Vary",
            "Via",
            "Warning",
            "WWW-Authenticate",
            "X-Forwarded-For",
            "X-Forwarded-Host",
            "X-Forwarded-Proto",
        ],
        StringComparer.OrdinalIgnoreCase
    );

    public static bool MayPass(string name) => !Forbidden.Contains(name);
}
