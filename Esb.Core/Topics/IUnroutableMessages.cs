namespace Esb.Core.Topics;

/// <summary>Confirmed messages to whose subject no endpoint subscribes: kept until an endpoint does, and published again on request.
/// Thread-safe.</summary>
/// <remarks>Pattern: Invalid Message Channel. A broker keeps them for all hosts; in memory each process keeps its newest.</remarks>
public interface IUnroutableMessages
{
    /// <summary>Counts and summarises them, without changing anything.</summary>
    /// <param name="peek">Number of messages to inspect, oldest first, from 0 to 10,000.</param>
    /// <param name="cancellationToken">Cancels the inspection.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: the broker is unreachable.</exception>
    Task<UnroutableSummary> SummarizeAsync(int peek, CancellationToken cancellationToken);

    /// <summary>Publishes them to their topics again, oldest first, with their ids; each is removed only after its publish is confirmed and
    /// has found a queue.</summary>
    /// <param name="subject">Only messages of this subject; null for all.</param>
    /// <param name="limit">Maximum messages to publish, from 1 to 10,000.</param>
    /// <param name="cancellationToken">Stops between two messages.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: a publish was rejected or its outcome is unknown; unconfirmed
    /// messages stay.</exception>
    Task<UnroutableReplay> ReplayAsync(string? subject, int limit, CancellationToken cancellationToken);
}

/// <summary>Summary of unroutable messages.</summary>
/// <param name="Count">Number of messages.</param>
/// <param name="Peeked">Number of messages inspected.</param>
/// <param name="Subjects">Subjects of the inspected messages.</param>
public sealed record UnroutableSummary(long Count, int Peeked, IReadOnlyList<UnroutableSubject> Subjects);

/// <summary>Unroutable messages of one subject.</summary>
/// <param name="Subject">Their subject.</param>
/// <param name="Count">Number of messages.</param>
/// <param name="Oldest">Time at which the oldest of them entered the bus.</param>
public sealed record UnroutableSubject(string Subject, int Count, DateTimeOffset Oldest);

/// <summary>Result of a replay.</summary>
/// <param name="Replayed">Messages that reached a queue.</param>
/// <param name="Unroutable">Subjects to which still no endpoint subscribes; their messages stay.</param>
public sealed record UnroutableReplay(int Replayed, IReadOnlyList<string> Unroutable);
