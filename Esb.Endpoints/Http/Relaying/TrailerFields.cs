using System.Collections.Frozen;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Which fields may stand behind a body: none that frames, routes, authenticates or describes it, as a recipient may have decided on those already (RFC 9110, section 6.5.1).</summary>
internal static class TrailerFields
{
    private static readonly FrozenSet<string> Forbidden = FrozenSet.ToFrozenSet(
        [
            "Age", "Authorization", "Cache-Control", "Content-Encoding", "Content-Range", "Content-Type", "Cookie", "Date", "Expires", "Forwarded", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range",
            "If-Unmodified-Since", "Location", "Max-Forwards", "Pragma", "Range", "Retry-After", "Set-Cookie", "Vary", "Via", "Warning", "WWW-Authenticate", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
        ],
        StringComparer.OrdinalIgnoreCase);

    public static bool MayPass(string name) => !Forbidden.Contains(name);
}
