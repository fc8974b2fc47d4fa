using System.Collections.Frozen;
using Esb.Core.Errors;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Listening;

/// <summary>The routes of one listener. Paths decoded by the server are compared exactly; paths with dot segments are refused earlier. A
/// path as it is beats one with placeholders. If several endpoints share a path and a method, the content type decides.</summary>
/// <remarks>Compiled once. Finding a route allocates nothing, and where no route has placeholders it is one look-up.</remarks>
internal sealed class HttpRoutes(IReadOnlyCollection<HttpRoute> routes)
{
    private readonly FrozenDictionary<string, HttpRoute[]> _byPath = routes
        .Where(route => !route.Path.HasPlaceholders)
        .GroupBy(route => route.Text)
        .ToFrozenDictionary(group => group.Key, Order, StringComparer.Ordinal);

    private readonly RouteNode? _withPlaceholders = RouteNode.Of([.. routes.Where(route => route.Path.HasPlaceholders)]);

    /// <summary>Finds the route of a request.</summary>
    /// <exception cref="EsbException">No endpoint has the path, or the method on it.</exception>
    public HttpRoute Find(HttpContext context)
    {
        var path = context.Request.Path.Value ?? "";
        if (_byPath.TryGetValue(path, out var candidates) && Choose(candidates, context.Request) is { } route)
            return route;
        List<HttpRoute>? others = null;
        return _withPlaceholders?.Find(path, context.Request, ref others) ?? throw Refuse(context, [.. candidates ?? [], .. others ?? []]);
    }

    /// <summary>The order in which routes of one path are tried.</summary>
    public static HttpRoute[] Order(IEnumerable<HttpRoute> routes) => [.. routes.OrderByDescending(route => route.IsForSomeTypes)];

    /// <summary>Chooses among routes of one path; null if none takes the method.</summary>
    public static HttpRoute? Choose(HttpRoute[] candidates, HttpRequest request)
    {
        HttpRoute? first = null;
        foreach (var route in candidates)
        {
            if (!route.Takes(request.Method))
                continue;
            if (candidates.Length == 1 || route.TakesType(request.ContentType))
                return route;
            first ??= route; // it reports the accepted types
        }

        return first;
    }

    private static EsbException Refuse(HttpContext context, HttpRoute[] others)
    {
        if (others.Length == 0)
            return HttpProblems.Of(StatusCodes.Status404NotFound, "ESB-HTTP-NOROUTE", "Nothing is served at this path.");
        context.Response.Headers.Allow = string.Join(", ", others.SelectMany(route => route.Methods).Distinct());
        return HttpProblems.Of(StatusCodes.Status405MethodNotAllowed, "ESB-HTTP-METHOD", "The method is not allowed at this path.");
    }
}
