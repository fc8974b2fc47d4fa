namespace Esb.Core.Activities;

/// <summary>What one audit fact says of an activity. Immutable.</summary>
public sealed record ActivityProgress
{
    /// <summary>The activity of the configuration.</summary>
    public required string Activity { get; init; }

    /// <summary>The conversation of the fact's message.</summary>
    public required Guid ConversationId { get; init; }

    /// <summary>When it happened.</summary>
    public required DateTimeOffset At { get; init; }

    /// <summary>Which item it belongs to, in the words of the business; null where the fact does not say, and its conversation does.</summary>
    public string? Key { get; init; }

    /// <summary>The milestone that was passed; null where none was.</summary>
    public string? Milestone { get; init; }

    /// <summary>Whether the item ends with it.</summary>
    public bool Ends { get; init; }

    /// <summary>Data items, by name.</summary>
    public IReadOnlyDictionary<string, string> Data { get; init; } = NoData;

    private static readonly IReadOnlyDictionary<string, string> NoData = new Dictionary<string, string>();
}
