namespace Esb.Core.Activities;

/// <summary>Keeps the items of activities. Thread-safe.</summary>
/// <remarks>
/// A fact with a key belongs to that item, in whatever conversation; one without belongs to every item of its conversation, or to an item without a key while there is none.
/// What facts say is merged so that neither their order matters nor how often they come: the first time of a milestone stays, the last word of a data item counts.
/// </remarks>
public interface IActivityStore
{
    /// <summary>Takes in what facts say, all or nothing; durable when it returns.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be written; where it is not transient, it refuses what it was given.</exception>
    Task RecordAsync(IReadOnlyList<ActivityProgress> progress, CancellationToken cancellationToken);

    /// <summary>Items, those that began last first.</summary>
    IAsyncEnumerable<ActivityItem> FindAsync(ActivityQuery query, CancellationToken cancellationToken);

    /// <summary>How many items have not ended.</summary>
    /// <param name="activity">Of this activity.</param>
    /// <param name="startedBefore">That began before; all where it is null.</param>
    /// <param name="cancellationToken">Stops counting.</param>
    Task<long> CountOpenAsync(string activity, DateTimeOffset? startedBefore, CancellationToken cancellationToken);

    /// <summary>Lets go of items that nothing was heard of since, and of what conversations they were in.</summary>
    Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken);
}

/// <summary>Which items; everything that is given must hold.</summary>
public sealed record ActivityQuery
{
    /// <summary>Of this activity.</summary>
    public required string Activity { get; init; }

    /// <summary>The one with this key.</summary>
    public string? Key { get; init; }

    /// <summary>Whether it has ended.</summary>
    public bool? IsCompleted { get; init; }

    /// <summary>Began, or ended, not before.</summary>
    public DateTimeOffset? From { get; init; }

    /// <summary>Began before.</summary>
    public DateTimeOffset? To { get; init; }

    /// <summary>Those behind this one: the key of the next page.</summary>
    public ActivityPosition? Before { get; init; }

    /// <summary>How many at most; all where it is null.</summary>
    public int? Limit { get; init; }
}

/// <summary>The place of an item in the order of items.</summary>
/// <param name="StartedAt">When it began.</param>
/// <param name="Id">Of those that began at the same time.</param>
public sealed record ActivityPosition(DateTimeOffset StartedAt, string Id);
