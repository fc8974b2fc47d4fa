namespace Esb.Core.Itineraries;

/// <summary>State of a message on an itinerary.</summary>
public enum ItineraryState
{
    /// <summary>It waits at a durable stop, or is worked on there.</summary>
    Waiting,

    /// <summary>It has passed its last stop.</summary>
    Completed,

    /// <summary>A stop failed for good, and those before it were undone.</summary>
    Compensated,

    /// <summary>A stop failed for good, and undoing those before it failed too.</summary>
    CompensationFailed,
}

/// <summary>A message on an itinerary with durable stops. Immutable.</summary>
/// <param name="MessageId">The message.</param>
/// <param name="Itinerary">The itinerary.</param>
/// <param name="Stop">The durable stop at which it waits, or the last stop that it reached.</param>
/// <param name="State">Its state.</param>
/// <param name="ConversationId">The conversation of the message.</param>
public sealed record ItineraryRun(Guid MessageId, string Itinerary, string Stop, ItineraryState State, Guid ConversationId)
{
    /// <summary>Code of the failure; null if none.</summary>
    public string? Code { get; init; }

    /// <summary>Text of the failure; null if none.</summary>
    public string? Reason { get; init; }

    /// <summary>When it reached its first durable stop; set by the store.</summary>
    public DateTimeOffset StartedAt { get; init; }

    /// <summary>When it changed last; set by the store.</summary>
    public DateTimeOffset ChangedAt { get; init; }
}

/// <summary>A filter for messages on itineraries.</summary>
public sealed record ItineraryQuery
{
    /// <summary>The itinerary; null for any.</summary>
    public string? Itinerary { get; init; }

    /// <summary>The state; null for any.</summary>
    public ItineraryState? State { get; init; }

    /// <summary>The stop; null for any.</summary>
    public string? Stop { get; init; }

    /// <summary>Only those behind this one, in the order of the list; null from the beginning.</summary>
    public Guid? After { get; init; }

    /// <summary>At most this many.</summary>
    public int Limit { get; init; } = 50;
}

/// <summary>Where messages are on itineraries with durable stops. Thread-safe.</summary>
public interface IItineraryRuns
{
    /// <summary>Stores where messages are; durable when it returns. A message that has ended does not return to waiting
    /// when a stop is repeated.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-AWAY</c>, <c>ESB-STORE-WRITE</c>.</exception>
    Task SaveAsync(IReadOnlyList<ItineraryRun> runs, CancellationToken cancellationToken);

    /// <summary>Lists messages, by id from the newest to the oldest.</summary>
    Task<IReadOnlyList<ItineraryRun>> ListAsync(ItineraryQuery query, CancellationToken cancellationToken);

    /// <summary>Returns where a message is; null if it is on no itinerary with durable stops, or ended more than 30 days ago.</summary>
    Task<ItineraryRun?> FindAsync(Guid message, CancellationToken cancellationToken);

    /// <summary>Removes messages that ended 30 days ago.</summary>
    Task RemoveOldAsync(CancellationToken cancellationToken);
}
