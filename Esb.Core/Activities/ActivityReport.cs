namespace Esb.Core.Activities;

/// <summary>Statistics of an activity over a period. Durations in seconds.</summary>
public sealed record ActivityReport
{
    /// <summary>The activity.</summary>
    public required string Name { get; init; }

    /// <summary>Start of the period.</summary>
    public required DateTimeOffset From { get; init; }

    /// <summary>End of the period.</summary>
    public required DateTimeOffset To { get; init; }

    /// <summary>Items that began in the period.</summary>
    public required long Started { get; init; }

    /// <summary>Items that ended in the period.</summary>
    public required long Completed { get; init; }

    /// <summary>Items among them that exceeded the activity's time limit; null if the activity sets none.</summary>
    public long? CompletedLate { get; init; }

    /// <summary>Items open now, whenever they began, including overdue ones.</summary>
    public required long InProgress { get; init; }

    /// <summary>Items overdue now; null if the activity sets no time limit.</summary>
    public long? Overdue { get; init; }

    /// <summary>Durations of items that began in the period: from each milestone to the next, and from the earliest milestone to the
    /// end.</summary>
    public required IReadOnlyList<MilestoneDurations> Durations { get; init; }

    /// <summary>Intervals of the period, oldest first; null if not requested.</summary>
    public IReadOnlyList<ActivityBucket>? Buckets { get; init; }
}

/// <summary>Durations from one milestone to another, in seconds; percentiles within 6.25 %.</summary>
/// <param name="From">A milestone; of the whole, <c>start</c>.</param>
/// <param name="To">A milestone; of the whole, <c>end</c>.</param>
/// <param name="Count">Items that passed both, in this order.</param>
/// <param name="Mean">Null if there are none.</param>
/// <param name="P50">Null if there are none.</param>
/// <param name="P95">Null if there are none.</param>
/// <param name="P99">Null if there are none.</param>
/// <param name="Max">Null if there are none.</param>
public sealed record MilestoneDurations(
    string From,
    string To,
    long Count,
    double? Mean,
    double? P50,
    double? P95,
    double? P99,
    double? Max
);

/// <summary>An interval of the period.</summary>
/// <param name="At">Start of the interval.</param>
/// <param name="Started">Items that began in it.</param>
/// <param name="Completed">Items that ended in it.</param>
public sealed record ActivityBucket(DateTimeOffset At, long Started, long Completed);
