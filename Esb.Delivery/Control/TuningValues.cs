using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Delivery.Control;

/// <summary>Converts tuned settings to single values, as they are stored, and to settings of the configuration.</summary>
internal static class TuningValues
{
    public const string Retry = "retry";
    public const string CircuitBreaker = "circuitBreaker";

    private static readonly JsonSerializerOptions Json = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.KebabCaseLower) },
    };

    /// <summary>The names of all settings that can be tuned.</summary>
    public static IReadOnlyList<string> Names { get; } =
    [
        .. typeof(EndpointTuning)
            .GetProperties()
            .Where(property => property.CanWrite)
            .Select(property => JsonNamingPolicy.CamelCase.ConvertName(property.Name)),
    ];

    /// <summary>Each setting that is not null, with its value as JSON.</summary>
    public static Dictionary<string, string> Of(EndpointTuning tuning) =>
        JsonSerializer.SerializeToNode(tuning, Json)!.AsObject().ToDictionary(one => one.Key, one => one.Value!.ToJsonString());

    /// <summary>Reads settings; unknown ones, of a later release, are ignored.</summary>
    public static EndpointTuning Read(IEnumerable<KeyValuePair<string, string>> values) =>
        new JsonObject(values.Select(one => KeyValuePair.Create(one.Key, JsonNode.Parse(one.Value)))).Deserialize<EndpointTuning>(Json)!;

    public static RetryTuning Of(RetryConfig config) =>
        new() { Immediate = config.Immediate, Delays = [.. config.Delays.Select(Duration.Format)] };

    public static CircuitBreakerTuning Of(CircuitBreakerConfig config) =>
        new() { Failures = config.Failures, Probe = Duration.Format(config.Probe) };

    /// <summary>The policy that a valid tuning says.</summary>
    public static RetryConfig ConfigOf(RetryTuning tuning)
    {
        var config = new RetryConfig();
        return config with
        {
            Immediate = tuning.Immediate ?? config.Immediate,
            Delays = tuning.Delays is { } delays ? [.. delays.Select(Parse)] : config.Delays,
        };
    }

    /// <summary>The circuit breaker that a valid tuning says.</summary>
    public static CircuitBreakerConfig ConfigOf(CircuitBreakerTuning tuning)
    {
        var config = new CircuitBreakerConfig();
        return config with
        {
            Failures = tuning.Failures ?? config.Failures,
            Probe = tuning.Probe is { } probe ? Parse(probe) : config.Probe,
        };
    }

    private static TimeSpan Parse(string text) =>
        Duration.TryParse(text, out var span) ? span : throw new ArgumentException($"{text} is not a duration.", nameof(text));
}
