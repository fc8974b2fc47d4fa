using System.Text.Json;
using Esb.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Host.Composition;

/// <summary>An endpoint in a few words, whatever its type.</summary>
/// <param name="Settings">What is configured.</param>
/// <param name="Type">Such as <c>http-inbound</c>.</param>
/// <param name="Address">Where it meets the outside: a url or a folder; null where its type knows neither.</param>
internal sealed record EndpointSummary(EndpointConfig Settings, string Type, string? Address)
{
    public string Name => Settings.Name;

    /// <summary>Whether people can send to its address by HTTP.</summary>
    public bool TakesRequests => Settings is InboundEndpointConfig { Enabled: true } && Address?.StartsWith("http", StringComparison.Ordinal) == true;

    /// <summary>All endpoints, inbound ones first, as the configuration lists them.</summary>
    public static IReadOnlyList<EndpointSummary> AllOf(EsbConfiguration configuration)
    {
        // The settings of a type belong to its project, and say themselves where they are shown; from the traced values, in which secrets
        // are masked.
        var values = configuration.Values.GroupBy(value => value.Path).ToDictionary(group => group.Key, group => group.First().Shown);
        return [.. configuration.Named<EndpointConfig>("endpoints").Values
            .Select(settings => new EndpointSummary(settings, Text(values, settings, "type") ?? "", AddressOf(values, settings)))
            .OrderBy(endpoint => endpoint.Settings is not InboundEndpointConfig)];
    }

    /// <summary>What comes in, where it goes, and how many at once.</summary>
    public string Describe() => Settings switch
    {
        InboundEndpointConfig inbound => $"{Type}, {Address ?? "?"} → {TargetOf(inbound)}{Disabled}",
        OutboundEndpointConfig outbound => $"{Type}, {SourceOf(outbound)} → {Address ?? outbound.Process ?? "?"}; {Capacity(outbound)}{Disabled}",
        _ => Type,
    };

    private string Disabled => Settings.Enabled ? "" : "; disabled";

    private static string TargetOf(InboundEndpointConfig inbound) =>
        inbound.Process ?? inbound.Relay ?? (inbound.Publish is { } subject ? $"topic {subject}" : "nothing");

    private static string SourceOf(OutboundEndpointConfig outbound) =>
        outbound.Subscribe.Count == 0 ? "called" : string.Join(", ", outbound.Subscribe);

    private static string Capacity(OutboundEndpointConfig outbound) =>
        $"{outbound.PoolSize} {(outbound.PoolSize == 1 ? "instance" : "instances")}, {outbound.ProcessingThreads} at once, {JsonNamingPolicy.KebabCaseLower.ConvertName(outbound.Delivery.ToString())}";

    private static string? AddressOf(Dictionary<string, string> values, EndpointConfig settings)
    {
        if (settings.AddressPaths.Count == 0) return settings.Address;
        var parts = settings.AddressPaths.Select(path => Unquote(values.GetValueOrDefault(path))).OfType<string>().ToList();
        return parts.Count == 0 ? null : string.Concat(parts.SkipLast(1).Select(part => part.TrimEnd('/')).Append(parts[^1]));
    }

    private static string? Text(Dictionary<string, string> values, EndpointConfig settings, string name) => Unquote(values.GetValueOrDefault($"{settings.Path}.{name}"));

    private static string? Unquote(string? shown) => shown?.Trim('"');
}
