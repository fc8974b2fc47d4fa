using System.Text.Json;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>The subscription of a host for an endpoint, as announced to the other hosts.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Patterns">The patterns to which its configuration subscribes.</param>
/// <param name="Epoch">A new value each time the host begins to consume; null while it does not.</param>
internal sealed record FarmReceiver(string Endpoint, IReadOnlyList<string> Patterns, Guid? Epoch)
{
    /// <summary>True if both have the same content; the patterns are compared one by one.</summary>
    public bool Says(FarmReceiver other) => Endpoint == other.Endpoint && Epoch == other.Epoch && Patterns.SequenceEqual(other.Patterns);

    /// <summary>Reads what a host announces.</summary>
    /// <param name="json">A JSON array of receivers.</param>
    /// <exception cref="JsonException">It is something else, or leaves out what every host says.</exception>
    public static IReadOnlyList<FarmReceiver> ReadAll(string json)
    {
        var receivers = JsonSerializer.Deserialize<List<FarmReceiver>>(json) ?? [];
        // What the deserializer believes to be there may be null all the same.
        return receivers.TrueForAll(one => one is { Endpoint: not null, Patterns: not null } && !one.Patterns.Contains(null!))
            ? receivers
            : throw new JsonException("An announcement of receivers is incomplete.");
    }
}
