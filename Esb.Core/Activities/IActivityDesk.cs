namespace Esb.Core.Activities;

/// <summary>Tells how activities go. Thread-safe.</summary>
/// <remarks>Business activity monitoring, after the activities of BizTalk Server's BAM.</remarks>
public interface IActivityDesk
{
    /// <summary>The activities of the configuration.</summary>
    IReadOnlyList<string> Names { get; }

    /// <summary>How an activity went in a time; null where there is none of that name.</summary>
    /// <param name="activity">Its name.</param>
    /// <param name="from">Items that began or ended not before.</param>
    /// <param name="to">Items that began or ended before.</param>
    /// <param name="bucket">Also counted for each part of the time; not where it is null.</param>
    /// <param name="cancellationToken">Stops counting.</param>
    Task<ActivityReport?> ReportAsync(string activity, DateTimeOffset from, DateTimeOffset to, TimeSpan? bucket, CancellationToken cancellationToken);

    /// <summary>Items of an activity, those that began last first; none where there is no such activity.</summary>
    /// <param name="query">Which.</param>
    /// <param name="state">How they stand; any where it is null.</param>
    /// <param name="cancellationToken">Stops looking.</param>
    IAsyncEnumerable<ActivityItemStatus> FindAsync(ActivityQuery query, ActivityState? state, CancellationToken cancellationToken);

    /// <summary>Takes in again what the audit facts of a time say: for an activity that was configured after they happened.</summary>
    /// <returns>How many facts belonged to activities.</returns>
    Task<long> RebuildAsync(DateTimeOffset from, DateTimeOffset to, CancellationToken cancellationToken);
}

/// <summary>How an item stands.</summary>
public enum ActivityState
{
    /// <summary>It has not ended, and there is time left.</summary>
    InProgress,

    /// <summary>It has not ended in time.</summary>
    Overdue,

    /// <summary>It has ended.</summary>
    Completed,
}

/// <summary>An item, and how it stands now.</summary>
/// <param name="Item">The item.</param>
/// <param name="State">How it stands.</param>
/// <param name="DueAt">When it is, or was, to end; null where the activity sets no time.</param>
public sealed record ActivityItemStatus(ActivityItem Item, ActivityState State, DateTimeOffset? DueAt);
