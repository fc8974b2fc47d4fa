namespace Esb.Core.Activities;

/// <summary>Contribution of one audit fact to an activity. Immutable.</summary>
public sealed record ActivityProgress
{
    /// <summary>The activity of the configuration.</summary>
    public required string Activity { get; init; }

    /// <summary>The conversation of the fact's message.</summary>
    public required Guid ConversationId { get; init; }

    /// <summary>Time of the fact.</summary>
    public required DateTimeOffset At { get; init; }

    /// <summary>The business key of the item; null if the fact has none and its conversation identifies the item.</summary>
    public string? Key { get; init; }

    /// <summary>The milestone passed; null if none.</summary>
    public string? Milestone { get; init; }

    /// <summary>True if this fact ends the item.</summary>
    public bool Ends { get; init; }

    /// <summary>Data items, by name.</summary>
    public IReadOnlyDictionary<string, string> Data { get; init; } = NoData;

    private static readonly IReadOnlyDictionary<string, string> NoData = new Dictionary<string, string>();
}
