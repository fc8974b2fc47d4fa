using System.Globalization;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;

namespace Esb.Workflows.Itineraries;

/// <summary>An itinerary: stops that a message passes one after the other (pattern: Routing Slip).</summary>
internal sealed record ItineraryConfig : SettingsRecord
{
    [Setting("The stops, in their order: a step, or steps with what undoes them.")]
    public required IReadOnlyList<StopConfig> Stops { get; init; }

    [Setting(
        "Time limit of a message, counted from its first durable stop; after it no further stop begins, and the stops before are undone. "
            + "No limit by default.",
        Range = "1s..3650d"
    )]
    public TimeSpan? Timeout { get; init; }

    /// <summary>True if messages wait at a stop.</summary>
    public bool IsDurable => Stops.Any(stop => stop.Durable);
}

/// <summary>A stop with its place in its itinerary.</summary>
/// <param name="Itinerary">Name of the itinerary.</param>
/// <param name="Hash">Fingerprint of the itinerary.</param>
/// <param name="Stop">The stop.</param>
/// <param name="Before">The stops before it.</param>
/// <param name="IsLast">True if none follows.</param>
/// <param name="Timeout">Time limit of a message; null without a limit.</param>
internal sealed record StopPlan(
    string Itinerary,
    string Hash,
    StopConfig Stop,
    IReadOnlyList<StopConfig> Before,
    bool IsLast,
    TimeSpan? Timeout = null
)
{
    /// <summary>Name of the stop: its id, or its number from 1.</summary>
    public string Name => NameOf(Stop, Before.Count);

    /// <summary>The slip of a message that waits at the stop.</summary>
    /// <param name="until">When it expires; null without a limit.</param>
    public string SlipOf(DateTimeOffset? until) =>
        until is { } end
            ? string.Create(CultureInfo.InvariantCulture, $"{Itinerary};{Hash};{Name};{end.ToUnixTimeSeconds()}")
            : $"{Itinerary};{Hash};{Name}";

    /// <summary>When a slip expires; null without a limit, or without a slip.</summary>
    public static DateTimeOffset? EndOf(string? slip) =>
        slip?.Split(';') is [_, _, _, var end] && long.TryParse(end, NumberStyles.None, CultureInfo.InvariantCulture, out var seconds)
            ? DateTimeOffset.FromUnixTimeSeconds(seconds)
            : null;

    /// <summary>The stop of a slip; null without a slip.</summary>
    public static string? StopOf(string? slip) => slip?.Split(';') is [_, _, var stop, ..] ? stop : null;

    public static string NameOf(StopConfig stop, int index) => stop.Id ?? (index + 1).ToString(CultureInfo.InvariantCulture);
}
