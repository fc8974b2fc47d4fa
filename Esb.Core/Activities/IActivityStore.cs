namespace Esb.Core.Activities;

/// <summary>Stores the items of activities. Thread-safe.</summary>
/// <remarks>
/// A fact with a key belongs to the item of that key, in any conversation. A fact without a key belongs to every item of its conversation,
/// or to an item without a key if the conversation has no item.
/// Merging is independent of the order and repetition of facts: the earliest time of a milestone and the latest value of a data item are
/// kept.
/// </remarks>
public interface IActivityStore
{
    /// <summary>Records progress, all or nothing; durable when it returns.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be written; if the error is not transient, the store rejects the
    /// data.</exception>
    Task RecordAsync(IReadOnlyList<ActivityProgress> progress, CancellationToken cancellationToken);

    /// <summary>Items, most recently started first.</summary>
    IAsyncEnumerable<ActivityItem> FindAsync(ActivityQuery query, CancellationToken cancellationToken);

    /// <summary>Counts open items.</summary>
    /// <param name="activity">The activity.</param>
    /// <param name="startedBefore">Counts items that began before this time; null for all.</param>
    /// <param name="cancellationToken">Cancels counting.</param>
    Task<long> CountOpenAsync(string activity, DateTimeOffset? startedBefore, CancellationToken cancellationToken);

    /// <summary>Deletes items without facts since the given time, and their links to conversations.</summary>
    Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken);
}

/// <summary>Filter for items; all given conditions must hold.</summary>
public sealed record ActivityQuery
{
    /// <summary>The activity.</summary>
    public required string Activity { get; init; }

    /// <summary>The key.</summary>
    public string? Key { get; init; }

    /// <summary>True for items that have ended, false for open items.</summary>
    public bool? IsCompleted { get; init; }

    /// <summary>Items that began or ended at or after this time.</summary>
    public DateTimeOffset? From { get; init; }

    /// <summary>Items that began before this time.</summary>
    public DateTimeOffset? To { get; init; }

    /// <summary>Items behind this one in the order: the key of the next page.</summary>
    public ActivityPosition? Before { get; init; }

    /// <summary>Maximum number of items; null for all.</summary>
    public int? Limit { get; init; }
}

/// <summary>Position of an item in the order of items.</summary>
/// <param name="StartedAt">Start time.</param>
/// <param name="Id">Id, which orders items that began at the same time.</param>
public sealed record ActivityPosition(DateTimeOffset StartedAt, string Id);
