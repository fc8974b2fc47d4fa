using Esb.Core.Configuration.Settings;

namespace Esb.Core.Processes;

/// <summary>A stop of an itinerary: a single step, or steps with what undoes them.</summary>
public sealed record StopConfig : SettingsRecord
{
    /// <summary>Name of the stop in the slip, facts and telemetry; null if it has none.</summary>
    [Setting("Names the stop in the slip, history and telemetry; a durable stop needs one.")]
    public string? Id { get; init; }

    /// <summary>True if the message waits in the queue of the itinerary before the stop, from which any host continues.</summary>
    [Setting("Whether the message waits in the queue of the itinerary before this stop, from which any host continues.")]
    public bool Durable { get; init; }

    /// <summary>The steps.</summary>
    [Setting("The steps of the stop.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }

    /// <summary>Steps that undo the stop where a later one fails.</summary>
    [Setting("Steps that undo the stop where a later one fails; they run backwards, the last stop first.")]
    public IReadOnlyList<StepConfig> Compensate { get; init; } = [];

    /// <summary>A note for people.</summary>
    [Setting("For people.")]
    public string? Note { get; init; }
}
