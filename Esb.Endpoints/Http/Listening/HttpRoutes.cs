using System.Collections.Frozen;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The routes of one listener. Paths decoded by the server are compared exactly; paths with dot segments are refused earlier. If
/// several endpoints share a path and a method, the content type decides.</summary>
internal sealed class HttpRoutes(IEnumerable<HttpRoute> routes)
{
    private readonly FrozenDictionary<string, HttpRoute[]> _byPath =
        routes.GroupBy(route => route.Path).ToFrozenDictionary(group => group.Key, group => group.OrderByDescending(route => route.IsForSomeTypes).ToArray(), StringComparer.Ordinal);

    /// <summary>Finds the route of a request.</summary>
    /// <exception cref="Core.Errors.EsbException">No endpoint has the path, or the method on it.</exception>
    public HttpRoute Find(HttpContext context)
    {
        if (!_byPath.TryGetValue(context.Request.Path.Value ?? "", out var candidates))
            throw HttpProblems.Of(StatusCodes.Status404NotFound, "ESB-HTTP-NOROUTE", "Nothing is served at this path.");
        HttpRoute? first = null;
        foreach (var route in candidates)
        {
            if (!route.Takes(context.Request.Method)) continue;
            if (candidates.Length == 1 || route.TakesType(context.Request.ContentType)) return route;
            first ??= route; // it reports the accepted types
        }

        if (first is not null) return first;
        context.Response.Headers.Allow = string.Join(", ", candidates.SelectMany(route => route.Methods).Distinct());
        throw HttpProblems.Of(StatusCodes.Status405MethodNotAllowed, "ESB-HTTP-METHOD", "The method is not allowed at this path.");
    }
}
