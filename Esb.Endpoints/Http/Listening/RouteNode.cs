using System.Collections.Frozen;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Listening;

/// <summary>A segment of paths with placeholders, and the segments that may follow it. Immutable; matching allocates nothing.</summary>
internal sealed class RouteNode
{
    private readonly FrozenDictionary<string, RouteNode>.AlternateLookup<ReadOnlySpan<char>>? _literals;
    private readonly RouteNode? _placeholder;
    private readonly HttpRoute[] _ending;

    private RouteNode(IReadOnlyCollection<HttpRoute> routes, int depth)
    {
        _ending = HttpRoutes.Order(routes.Where(route => route.Path.Segments.Length == depth));
        var deeper = routes
            .Where(route => route.Path.Segments.Length > depth)
            .ToLookup(route => RoutePath.IsPlaceholder(route.Path.Segments[depth]));
        var literals = deeper[false]
            .GroupBy(route => route.Path.Segments[depth])
            .ToFrozenDictionary(group => group.Key, group => new RouteNode([.. group], depth + 1), StringComparer.Ordinal);
        _literals = literals.Count == 0 ? null : literals.GetAlternateLookup<ReadOnlySpan<char>>();
        _placeholder = deeper[true].Any() ? new RouteNode([.. deeper[true]], depth + 1) : null;
    }

    /// <summary>Compiles the routes; null if there are none.</summary>
    public static RouteNode? Of(IReadOnlyCollection<HttpRoute> routes) => routes.Count == 0 ? null : new RouteNode(routes, depth: 0);

    /// <summary>Finds the route of a request: from left to right, a segment as it is beats a placeholder. A route with another method
    /// leaves the request to the next.</summary>
    /// <param name="rest">The path behind the segments so far; begins with a slash, and is empty at its end.</param>
    /// <param name="request">The request.</param>
    /// <param name="others">Receives the routes of this path that do not take the method; null if none.</param>
    public HttpRoute? Find(ReadOnlySpan<char> rest, HttpRequest request, ref List<HttpRoute>? others)
    {
        if (rest.IsEmpty)
        {
            if (_ending.Length == 0)
                return null;
            if (HttpRoutes.Choose(_ending, request) is { } route)
                return route;
            (others ??= []).AddRange(_ending);
            return null;
        }

        var segment = rest[1..];
        var end = segment.IndexOf('/');
        if (end >= 0)
            segment = segment[..end];
        var behind = rest[(segment.Length + 1)..];
        if (
            _literals is { } literals
            && literals.TryGetValue(segment, out var literal)
            && literal.Find(behind, request, ref others) is { } found
        )
            return found;
        return segment.IsEmpty ? null : _placeholder?.Find(behind, request, ref others);
    }
}
