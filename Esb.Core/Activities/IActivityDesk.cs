namespace Esb.Core.Activities;

/// <summary>Reports the progress of activities. Thread-safe.</summary>
/// <remarks>Business activity monitoring, after the activities of BizTalk Server's BAM.</remarks>
public interface IActivityDesk
{
    /// <summary>The activities of the configuration.</summary>
    IReadOnlyList<string> Names { get; }

    /// <summary>Reports an activity over a period; null if no activity has this name.</summary>
    /// <param name="activity">Its name.</param>
    /// <param name="from">Counts items that began or ended at or after this time.</param>
    /// <param name="to">Counts items that began or ended before this time.</param>
    /// <param name="bucket">Length of the intervals that are counted as well; null for none.</param>
    /// <param name="cancellationToken">Cancels counting.</param>
    Task<ActivityReport?> ReportAsync(
        string activity,
        DateTimeOffset from,
        DateTimeOffset to,
        TimeSpan? bucket,
        CancellationToken cancellationToken
    );

    /// <summary>Items of an activity, most recently started first; empty if the activity does not exist.</summary>
    /// <param name="query">The filter.</param>
    /// <param name="state">The state to match; null for any.</param>
    /// <param name="cancellationToken">Cancels the search.</param>
    IAsyncEnumerable<ActivityItemStatus> FindAsync(ActivityQuery query, ActivityState? state, CancellationToken cancellationToken);

    /// <summary>Rebuilds activities from the audit facts of a period, for activities configured after the events.</summary>
    /// <returns>Number of facts that belonged to activities.</returns>
    Task<long> RebuildAsync(DateTimeOffset from, DateTimeOffset to, CancellationToken cancellationToken);
}

/// <summary>State of an item.</summary>
public enum ActivityState
{
    /// <summary>The item is open and not yet due.</summary>
    InProgress,

    /// <summary>The item is open and overdue.</summary>
    Overdue,

    /// <summary>The item has ended.</summary>
    Completed,
}

/// <summary>An item with its current state.</summary>
/// <param name="Item">The item.</param>
/// <param name="State">Its state.</param>
/// <param name="DueAt">Time by which it must end; null if the activity sets no time limit.</param>
public sealed record ActivityItemStatus(ActivityItem Item, ActivityState State, DateTimeOffset? DueAt);
