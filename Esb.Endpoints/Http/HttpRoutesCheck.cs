using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Http;

/// <summary>Checks that every request has one endpoint to answer it.</summary>
internal sealed class HttpRoutesCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        var routes = configuration.Named<EndpointConfig>("endpoints").Values.OfType<HttpInboundConfig>()
            .Where(endpoint => endpoint.Enabled && endpoint.IsSound("path", "methods", "listener", "enabled"))
            .SelectMany(endpoint => endpoint.Methods.Distinct(), (endpoint, method) => (endpoint, method));
        foreach (var twins in routes.GroupBy(route => (route.endpoint.Listener, route.method, Normalize(route.endpoint.RequestPath))).Where(group => group.Count() > 1))
        {
            var names = string.Join(" and ", twins.Select(route => $"'{route.endpoint.Name}'"));
            var second = twins.Last().endpoint;
            errors.Add(new ConfigError("ESB-CFG-ROUTE", $"{second.Path}.path", $"\"{second.RequestPath}\"", $"{names} would both answer {twins.Key.method} {twins.First().endpoint.RequestPath}", second.Origin));
        }
    }

    // Paths that people would take for the same one.
    private static string Normalize(string path) => path.TrimEnd('/').ToUpperInvariant();
}
