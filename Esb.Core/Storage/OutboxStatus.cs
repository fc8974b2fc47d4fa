namespace Esb.Core.Storage;

/// <summary>How the outbox of a database stands: a line of <c>/api/outboxes</c>.</summary>
/// <param name="Connection">The database, one of the connections.</param>
/// <param name="Waiting">Messages that transactions published and no broker has confirmed yet, as last counted.</param>
/// <param name="OldestAge">How long the oldest of them has waited; null where none waits.</param>
/// <param name="Obstacle">What keeps them waiting, in a few words; null when nothing does.</param>
public sealed record OutboxStatus(string Connection, long Waiting, TimeSpan? OldestAge, string? Obstacle);

/// <summary>Tells how outboxes stand. Thread-safe.</summary>
public interface IOutboxMonitor
{
    /// <summary>The outbox of each database whose transactions the configuration uses.</summary>
    IReadOnlyList<OutboxStatus> Outboxes { get; }
}
