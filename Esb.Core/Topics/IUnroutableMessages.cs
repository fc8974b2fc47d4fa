namespace Esb.Core.Topics;

/// <summary>Messages that were confirmed although no endpoint subscribes to their subject: kept until somebody does, and published again on request. Thread-safe.</summary>
/// <remarks>Pattern: Invalid Message Channel. A broker keeps them for all hosts; in memory each process keeps its newest.</remarks>
public interface IUnroutableMessages
{
    /// <summary>How many there are, and what they are, without changing anything.</summary>
    /// <param name="peek">How many are looked at, the oldest first, from 0 to 10,000.</param>
    /// <param name="cancellationToken">Stops looking.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: the broker is away.</exception>
    Task<UnroutableSummary> SummarizeAsync(int peek, CancellationToken cancellationToken);

    /// <summary>Publishes them to their topics again, the oldest first, with the ids they have; each leaves only when its publish is confirmed and found a queue.</summary>
    /// <param name="subject">Only messages of this subject; all where it is null.</param>
    /// <param name="limit">How many are published at most, from 1 to 10,000.</param>
    /// <param name="cancellationToken">Stops between two messages.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: a publish was refused or its outcome is unknown; what was not confirmed stays.</exception>
    Task<UnroutableReplay> ReplayAsync(string? subject, int limit, CancellationToken cancellationToken);
}

/// <summary>What waits unroutable.</summary>
/// <param name="Count">How many messages.</param>
/// <param name="Peeked">How many of them were looked at.</param>
/// <param name="Subjects">What those were published under.</param>
public sealed record UnroutableSummary(long Count, int Peeked, IReadOnlyList<UnroutableSubject> Subjects);

/// <summary>Unroutable messages of one subject.</summary>
/// <param name="Subject">What they were published under.</param>
/// <param name="Count">How many.</param>
/// <param name="Oldest">When the oldest of them entered the bus.</param>
public sealed record UnroutableSubject(string Subject, int Count, DateTimeOffset Oldest);

/// <summary>What a replay did.</summary>
/// <param name="Replayed">Messages that reached a queue.</param>
/// <param name="Unroutable">Subjects that still no endpoint subscribes to; their messages stay.</param>
public sealed record UnroutableReplay(int Replayed, IReadOnlyList<string> Unroutable);
