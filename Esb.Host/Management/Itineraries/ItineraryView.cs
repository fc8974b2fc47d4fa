using Esb.Core.Itineraries;

namespace Esb.Host.Management.Itineraries;

/// <summary>A message on an itinerary with durable stops.</summary>
internal sealed record ItineraryView(
    Guid MessageId,
    string Itinerary,
    string Stop,
    ItineraryState State,
    Guid ConversationId,
    DateTimeOffset StartedAt,
    DateTimeOffset ChangedAt,
    string? Code,
    string? Reason
)
{
    /// <summary>The stops of the running definition, in brief; only of a single message, null if the itinerary is gone.</summary>
    public string? Stops { get; init; }

    public static ItineraryView Of(ItineraryRun run) =>
        new(run.MessageId, run.Itinerary, run.Stop, run.State, run.ConversationId, run.StartedAt, run.ChangedAt, run.Code, run.Reason);
}
