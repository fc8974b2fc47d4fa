using System.Text.Json;
using Esb.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Host.Composition;

/// <summary>A short summary of an endpoint, independent of its type.</summary>
/// <param name="Settings">The configured settings.</param>
/// <param name="Type">The endpoint type, such as <c>http-inbound</c>.</param>
/// <param name="Address">The external address: a URL or a folder; null if the type has neither.</param>
internal sealed record EndpointSummary(EndpointConfig Settings, string Type, string? Address)
{
    public string Name => Settings.Name;

    /// <summary>True if clients can send to its address by HTTP.</summary>
    public bool TakesRequests =>
        Settings is InboundEndpointConfig { Enabled: true } && Address?.StartsWith("http", StringComparison.Ordinal) == true;

    /// <summary>All endpoints, inbound endpoints first, in configuration order.</summary>
    public static IReadOnlyList<EndpointSummary> AllOf(EsbConfiguration configuration)
    {
        // Type-specific settings belong to the project of the type and name the paths of their address. Values come from the trace, in
        // which secrets are masked.
        var values = configuration.Values.GroupBy(value => value.Path).ToDictionary(group => group.Key, group => group.First().Shown);
        return
        [
            .. configuration
                .Named<EndpointConfig>("endpoints")
                .Values.Select(settings => new EndpointSummary(settings, Text(values, settings, "type") ?? "", AddressOf(values, settings)))
                .OrderBy(endpoint => endpoint.Settings is not InboundEndpointConfig),
        ];
    }

    /// <summary>The input, the target and the concurrency of the endpoint.</summary>
    public string Describe() =>
        Settings switch
        {
            InboundEndpointConfig inbound => $"{Type}, {Address ?? "?"} → {TargetOf(inbound)}{Disabled}",
            OutboundEndpointConfig outbound =>
                $"{Type}, {SourceOf(outbound)} → {Address ?? outbound.Process ?? "?"}; {Capacity(outbound)}{Disabled}",
            _ => Type,
        };

    private string Disabled => Settings.Enabled ? "" : "; disabled";

    private static string TargetOf(InboundEndpointConfig inbound) =>
        (inbound.Processes.Count > 0 ? string.Join(", ", inbound.Processes) : null)
        ?? inbound.Relay
        ?? (inbound.Publish is { } subject ? $"topic {subject}" : "nothing");

    private static string SourceOf(OutboundEndpointConfig outbound) =>
        outbound.Subscribe.Count == 0 ? "called" : string.Join(", ", outbound.Subscribe);

    private static string Capacity(OutboundEndpointConfig outbound) =>
        $"{outbound.PoolSize} {(outbound.PoolSize == 1 ? "instance" : "instances")}, {outbound.ProcessingThreads} at once, "
        + $"{JsonNamingPolicy.KebabCaseLower.ConvertName(outbound.Delivery.ToString())}";

    private static string? AddressOf(Dictionary<string, string> values, EndpointConfig settings)
    {
        if (settings.AddressPaths.Count == 0)
            return settings.Address;
        var parts = settings.AddressPaths.Select(path => Unquote(values.GetValueOrDefault(path))).OfType<string>().ToList();
        return parts.Count == 0 ? null : string.Concat(parts.SkipLast(1).Select(part => part.TrimEnd('/')).Append(parts[^1]));
    }

    private static string? Text(Dictionary<string, string> values, EndpointConfig settings, string name) =>
        Unquote(values.GetValueOrDefault($"{settings.Path}.{name}"));

    private static string? Unquote(string? shown) => shown?.Trim('"');
}
