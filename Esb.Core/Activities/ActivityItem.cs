namespace Esb.Core.Activities;

/// <summary>One case of an activity, such as an order on its way. Immutable.</summary>
public sealed record ActivityItem
{
    /// <summary>The activity.</summary>
    public required string Activity { get; init; }

    /// <summary>Identifier, unique within its activity; orders items that began at the same time.</summary>
    public required string Id { get; init; }

    /// <summary>The business key; null until a fact supplies it.</summary>
    public string? Key { get; init; }

    /// <summary>The conversation in which the item was first seen.</summary>
    public required Guid ConversationId { get; init; }

    /// <summary>Time of its first milestone.</summary>
    public required DateTimeOffset StartedAt { get; init; }

    /// <summary>Time of completion; null while the item is open.</summary>
    public DateTimeOffset? CompletedAt { get; init; }

    /// <summary>Milestones passed, each with the time it was first passed.</summary>
    public required IReadOnlyDictionary<string, DateTimeOffset> Milestones { get; init; }

    /// <summary>Data items, each with its latest value.</summary>
    public required IReadOnlyDictionary<string, string> Data { get; init; }
}
