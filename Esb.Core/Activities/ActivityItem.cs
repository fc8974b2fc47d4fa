namespace Esb.Core.Activities;

/// <summary>One case of an activity, such as an order on its way. Immutable.</summary>
public sealed record ActivityItem
{
    /// <summary>The activity.</summary>
    public required string Activity { get; init; }

    /// <summary>Tells it from the others of its activity, and orders those that began at the same time.</summary>
    public required string Id { get; init; }

    /// <summary>What the business calls it; null while no fact has said.</summary>
    public string? Key { get; init; }

    /// <summary>The conversation that it was first seen in.</summary>
    public required Guid ConversationId { get; init; }

    /// <summary>Its first milestone in time.</summary>
    public required DateTimeOffset StartedAt { get; init; }

    /// <summary>When it ended; null while it has not.</summary>
    public DateTimeOffset? CompletedAt { get; init; }

    /// <summary>The milestones that it passed, and when first.</summary>
    public required IReadOnlyDictionary<string, DateTimeOffset> Milestones { get; init; }

    /// <summary>Its data items, as they were said last.</summary>
    public required IReadOnlyDictionary<string, string> Data { get; init; }
}
