namespace Esb.Core.Activities;

/// <summary>How an activity went in a time. Durations in seconds.</summary>
public sealed record ActivityReport
{
    /// <summary>The activity.</summary>
    public required string Name { get; init; }

    /// <summary>From when.</summary>
    public required DateTimeOffset From { get; init; }

    /// <summary>Until when.</summary>
    public required DateTimeOffset To { get; init; }

    /// <summary>Items that began in that time.</summary>
    public required long Started { get; init; }

    /// <summary>Items that ended in that time.</summary>
    public required long Completed { get; init; }

    /// <summary>Of those, the ones that took longer than they should; null where the activity sets no time.</summary>
    public long? CompletedLate { get; init; }

    /// <summary>Items that have not ended, now, whenever they began; those that are overdue among them.</summary>
    public required long InProgress { get; init; }

    /// <summary>Items that should have ended, now; null where the activity sets no time.</summary>
    public long? Overdue { get; init; }

    /// <summary>Of items that began in that time: from each milestone to the next, and from the first milestone in time to the end.</summary>
    public required IReadOnlyList<MilestoneDurations> Durations { get; init; }

    /// <summary>The parts of the time, oldest first; null where they were not asked for.</summary>
    public IReadOnlyList<ActivityBucket>? Buckets { get; init; }
}

/// <summary>How long items took from one milestone to another, in seconds; percentiles within 6.25 %.</summary>
/// <param name="From">A milestone; of the whole, <c>start</c>.</param>
/// <param name="To">A milestone; of the whole, <c>end</c>.</param>
/// <param name="Count">Items that passed both, in this order.</param>
/// <param name="Mean">Null where there are none.</param>
/// <param name="P50">Null where there are none.</param>
/// <param name="P95">Null where there are none.</param>
/// <param name="P99">Null where there are none.</param>
/// <param name="Max">Null where there are none.</param>
public sealed record MilestoneDurations(string From, string To, long Count, double? Mean, double? P50, double? P95, double? P99, double? Max);

/// <summary>A part of the time.</summary>
/// <param name="At">When it begins.</param>
/// <param name="Started">Items that began in it.</param>
/// <param name="Completed">Items that ended in it.</param>
public sealed record ActivityBucket(DateTimeOffset At, long Started, long Completed);
