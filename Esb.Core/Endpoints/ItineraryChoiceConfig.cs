using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Core.Endpoints;

/// <summary>An itinerary for messages that meet a condition.</summary>
public sealed record ItineraryRuleConfig : SettingsRecord
{
    /// <summary>The condition.</summary>
    [Setting("The condition.")]
    public required ConditionConfig If { get; init; }

    /// <summary>The itinerary.</summary>
    [Setting("The itinerary of messages that meet it.", Reference = "itineraries")]
    public required string Itinerary { get; init; }
}

/// <summary>The itinerary of a message: a fixed one, the first whose condition holds, or one that the message names.</summary>
[ExactlyOne("use", "resolve", "value")]
public sealed record ItineraryChoiceConfig : SettingsRecord
{
    /// <summary>The itinerary of every message.</summary>
    [Setting("The itinerary.", Main = true, Reference = "itineraries")]
    public string? Use { get; init; }

    /// <summary>Conditions with their itineraries; the first that holds counts.</summary>
    [Setting("Conditions with their itineraries; the first that holds counts.")]
    public IReadOnlyList<ItineraryRuleConfig> Resolve { get; init; } = [];

    /// <summary>Where the message names its itinerary.</summary>
    [Setting("Where the message names its itinerary.")]
    public ValueConfig? Value { get; init; }

    /// <summary>The itineraries that a message may name.</summary>
    [Setting("Beside value: the itineraries that a message may name.", Reference = "itineraries")]
    public IReadOnlyList<string> Allow { get; init; } = [];

    /// <summary>The itinerary where no condition holds, or the message names none that is allowed.</summary>
    [Setting(
        "The itinerary where no condition holds, or the message names none that is allowed; without it such a message fails.",
        Reference = "itineraries"
    )]
    public string? Otherwise { get; init; }

    /// <summary>All itineraries that it may choose.</summary>
    public IEnumerable<string> All =>
        new[] { Use, Otherwise }.OfType<string>().Concat(Resolve.Select(rule => rule.Itinerary)).Concat(Allow).Distinct();
}
