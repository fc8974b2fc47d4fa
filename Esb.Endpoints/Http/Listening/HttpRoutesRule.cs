using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Endpoints.Http.Receiving;

namespace Esb.Endpoints.Http.Listening;

/// <summary>Checks that every request has exactly one endpoint to answer it.</summary>
internal sealed class HttpRoutesRule(IReadOnlyDictionary<string, EndpointConfig> endpoints) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        var routes = endpoints
            .Values.OfType<ListeningEndpointConfig>()
            .Where(endpoint => endpoint.Enabled && endpoint.IsSound("path", "methods", "listener", "enabled"))
            .SelectMany(endpoint => endpoint.Methods.Distinct(), (endpoint, method) => (endpoint, method));
        foreach (var group in routes.GroupBy(route => (route.endpoint.Listener, route.method, Normalize(route.endpoint))))
        {
            var twins = group.SelectMany(
                first => group.Where(second => Exclude(first.endpoint, second.endpoint)),
                (first, second) => (First: first.endpoint, Second: second.endpoint)
            );
            foreach (var (first, second) in twins)
                errors.Add(
                    new ConfigError(
                        "ESB-CFG-ROUTE",
                        $"{second.Path}.path",
                        $"\"{second.RequestPath}\"",
                        $"'{first.Name}' and '{second.Name}' would both answer {group.Key.method} {first.RequestPath}",
                        second.Origin
                    )
                );
        }
    }

    // Compares each pair once. Content types separate two endpoints unless both accept one type; an endpoint for all types gets the rest.
    private static bool Exclude(ListeningEndpointConfig first, ListeningEndpointConfig second) =>
        string.CompareOrdinal(first.Name, second.Name) < 0 && (ShapeOf(first) != ShapeOf(second) || DoTypesOverlap(first, second));

    private static bool DoTypesOverlap(ListeningEndpointConfig first, ListeningEndpointConfig second)
    {
        if (!first.IsSound("accept") || !second.IsSound("accept"))
            return false;
        if (first.Accept.Count == 0 || second.Accept.Count == 0)
            return first.Accept.Count == second.Accept.Count;
        return AcceptedTypes.Overlap(first.Accept, second.Accept);
    }

    // Paths that people would confuse map to one spelling.
    private static string Normalize(ListeningEndpointConfig endpoint) => ShapeOf(endpoint).TrimEnd('/').ToUpperInvariant();

    // Placeholders match the same requests whatever they are called.
    private static string ShapeOf(ListeningEndpointConfig endpoint) =>
        RoutePath.WhatIsWrong(endpoint.RequestPath) is null ? new RoutePath(endpoint.RequestPath).Shape : endpoint.RequestPath;
}
