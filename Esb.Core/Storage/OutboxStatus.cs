namespace Esb.Core.Storage;

/// <summary>Status of the outbox of a database: a line of <c>/api/outboxes</c>.</summary>
/// <param name="Connection">The database, one of the connections.</param>
/// <param name="Waiting">Messages that transactions published and that no broker has confirmed yet, as last counted.</param>
/// <param name="OldestAge">Time that the oldest of them has waited; null if none waits.</param>
/// <param name="Obstacle">Reason why they wait, brief; null if none.</param>
public sealed record OutboxStatus(string Connection, long Waiting, TimeSpan? OldestAge, string? Obstacle);

/// <summary>Reports the status of outboxes. Thread-safe.</summary>
public interface IOutboxMonitor
{
    /// <summary>The outbox of each database whose transactions the configuration uses.</summary>
    IReadOnlyList<OutboxStatus> Outboxes { get; }
}
