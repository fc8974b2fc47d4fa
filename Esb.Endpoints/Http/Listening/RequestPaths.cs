using System.Buffers;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Endpoints.Http.Listening;

/// <summary>Refuses paths whose written form differs from the resolved one: a proxy in front of the bus may authorise requests by
/// path.</summary>
internal static class RequestPaths
{
    private static readonly SearchValues<char> OfDisguises = SearchValues.Create(".%\\");

    /// <exception cref="Core.Errors.EsbException"><c>ESB-HTTP-PATH</c>: plain or encoded dot segments, encoded slashes, or
    /// backslashes.</exception>
    public static void RequirePlain(HttpContext context)
    {
        // The server has already resolved and decoded its own copy (RFC 3986, section 5.2.4).
        var path = PathOf(context.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget);
        if (path.ContainsAny(OfDisguises) && IsDisguised(path.ToString()))
            throw HttpProblems.Of(
                StatusCodes.Status400BadRequest,
                "ESB-HTTP-PATH",
                "The path has dot segments, backslashes or encoded slashes."
            );
    }

    // Accepts /path?query and http://host/path?query.
    private static ReadOnlySpan<char> PathOf(ReadOnlySpan<char> target)
    {
        var query = target.IndexOf('?');
        if (query >= 0)
            target = target[..query];
        if (target.StartsWith('/'))
            return target;
        var authority = target.IndexOf("://");
        return authority < 0 ? target : target[(authority + 3)..];
    }

    private static bool IsDisguised(string path) =>
        path.Contains('\\')
        || path.Contains("%5c", StringComparison.OrdinalIgnoreCase)
        || path.Contains("%2f", StringComparison.OrdinalIgnoreCase)
        || path.Replace("%2e", ".", StringComparison.OrdinalIgnoreCase).Split('/').Any(segment => segment is "." or "..");
}
