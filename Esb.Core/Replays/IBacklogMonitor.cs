namespace Esb.Core.Replays;

/// <summary>Reports the backlog that waits for an operator, as of a moment ago. Thread-safe.</summary>
public interface IBacklogMonitor
{
    /// <summary>The backlog of the whole store, equal on every host of a farm.</summary>
    Backlog Current { get; }
}

/// <summary>Backlog that waits for an operator.</summary>
/// <param name="DeadLetters">Open dead letters.</param>
/// <param name="OldestDeadLetter">Time at which the longest-waiting dead letter was last tried; null if none.</param>
/// <param name="ParkedKeys">Keys with parked messages; at most 1,000 are counted.</param>
/// <param name="OldestParked">Time at which the first of them was parked; null if none.</param>
public sealed record Backlog(long DeadLetters, DateTimeOffset? OldestDeadLetter, long ParkedKeys, DateTimeOffset? OldestParked)
{
    /// <summary>Time of the count, at most 15 s ago while the store is reachable; null before the first.</summary>
    public DateTimeOffset? CountedAt { get; init; }
}
