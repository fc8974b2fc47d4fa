namespace Esb.Core.Replays;

/// <summary>Tells what waits for an operator, as it was a moment ago. Thread-safe.</summary>
public interface IBacklogMonitor
{
    /// <summary>What waits, in the whole store: it is the same on every host of a farm.</summary>
    Backlog Current { get; }
}

/// <summary>What waits for an operator.</summary>
/// <param name="DeadLetters">Open dead letters.</param>
/// <param name="OldestDeadLetter">When the one that waits longest was last tried; null where there is none.</param>
/// <param name="ParkedKeys">Keys whose messages are parked; at most 1,000 are counted.</param>
/// <param name="OldestParked">Since when the first of them is parked; null where there is none.</param>
public sealed record Backlog(long DeadLetters, DateTimeOffset? OldestDeadLetter, long ParkedKeys, DateTimeOffset? OldestParked);
