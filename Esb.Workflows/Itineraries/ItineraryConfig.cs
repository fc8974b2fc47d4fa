using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;

namespace Esb.Workflows.Itineraries;

/// <summary>An itinerary: stops that a message passes one after the other (pattern: Routing Slip).</summary>
internal sealed record ItineraryConfig : SettingsRecord
{
    [Setting("The stops, in their order: a step, or steps with what undoes them.")]
    public required IReadOnlyList<StopConfig> Stops { get; init; }

    /// <summary>True if messages wait at a stop.</summary>
    public bool IsDurable => Stops.Any(stop => stop.Durable);
}

/// <summary>A stop with its place in its itinerary.</summary>
/// <param name="Itinerary">Name of the itinerary.</param>
/// <param name="Hash">Fingerprint of the itinerary.</param>
/// <param name="Stop">The stop.</param>
/// <param name="Before">The stops before it.</param>
/// <param name="IsLast">True if none follows.</param>
internal sealed record StopPlan(string Itinerary, string Hash, StopConfig Stop, IReadOnlyList<StopConfig> Before, bool IsLast)
{
    /// <summary>Name of the stop: its id, or its number from 1.</summary>
    public string Name => NameOf(Stop, Before.Count);

    /// <summary>The slip of a message that waits at the stop.</summary>
    public string Slip => $"{Itinerary};{Hash};{Name}";

    public static string NameOf(StopConfig stop, int index) =>
        stop.Id ?? (index + 1).ToString(System.Globalization.CultureInfo.InvariantCulture);
}
