using Esb.Core.Messages;

namespace Esb.Core.Storage;

/// <summary>Keeps, for endpoints that deliver in the order of a key, the messages of a key that wait behind one that failed. Durable when a call returns. Thread-safe.</summary>
/// <remarks>
/// Whoever delivers the messages of a lane takes it over first; what an earlier owner still tries is refused (pattern: fencing token).
/// A key is parked from the moment its first message is parked until its last one is removed; in between all its arrivals join the end.
/// </remarks>
public interface IParkingStore
{
    /// <summary>Takes a lane over from whoever had it.</summary>
    /// <returns>The proof of ownership, and the keys that are parked: those of the other lanes too, so that nothing depends on the number of lanes.</returns>
    Task<LaneOwner> TakeLaneAsync(string endpoint, int lane, CancellationToken cancellationToken);

    /// <summary>Makes sure that the lane still belongs to its owner.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    Task VerifyAsync(LaneOwner owner, CancellationToken cancellationToken);

    /// <summary>Parks a message: it becomes the first of its key, or joins the end. The same message of an endpoint is parked once.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>: somebody else has taken the lane over.</exception>
    Task ParkAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken);

    /// <summary>Parks a message if its key still is parked.</summary>
    /// <returns>False where it is not any more, an operator having discarded the rest: then the message is not parked either.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    Task<bool> TryJoinAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken);

    /// <summary>The first message of a key; null where the key is not parked.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    Task<ParkedMessage?> FirstAsync(LaneOwner owner, string key, CancellationToken cancellationToken);

    /// <summary>Removes a message that was delivered, or given up otherwise.</summary>
    /// <returns>Whether its key is parked no longer.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    Task<bool> RemoveAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken);

    /// <summary>Records what became of another attempt of the first message: its attempts, its last failure, and when it is due again. One that an operator discarded meanwhile changes nothing for those behind it.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    Task RescheduleAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken);

    /// <summary>The keys of an endpoint whose time has come. Each is told once in 30 s, to one host, which then sends the lane a release.</summary>
    Task<IReadOnlyList<string>> TakeDueAsync(string endpoint, CancellationToken cancellationToken);

    /// <summary>The parked keys, the longest parked first.</summary>
    /// <param name="endpoint">Of one endpoint; of all where it is null.</param>
    /// <param name="limit">From 1 to 1,000.</param>
    /// <param name="cancellationToken">Stops reading.</param>
    Task<IReadOnlyList<ParkedKey>> ListAsync(string? endpoint, int limit, CancellationToken cancellationToken);

    /// <summary>The messages of a parked key, in order.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="key">The key.</param>
    /// <param name="limit">From 1 to 1,000.</param>
    /// <param name="cancellationToken">Stops reading.</param>
    Task<IReadOnlyList<ParkedMessage>> MessagesAsync(string endpoint, string key, int limit, CancellationToken cancellationToken);

    /// <summary>An operator's word: the key is due now.</summary>
    /// <returns>Whether it is parked.</returns>
    Task<bool> ReleaseAsync(string endpoint, string key, CancellationToken cancellationToken);

    /// <summary>What is recorded of messages of a key before they are discarded, from the end of its line.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="key">The key.</param>
    /// <param name="messageId">One message; the last ones where it is null.</param>
    /// <param name="limit">How many.</param>
    /// <param name="cancellationToken">Stops reading.</param>
    Task<IReadOnlyList<ParkedSummary>> SummariesAsync(string endpoint, string key, Guid? messageId, int limit, CancellationToken cancellationToken);

    /// <summary>An operator's word: takes messages of a key out for good; the key goes on with the rest.</summary>
    /// <returns>How many of them still waited.</returns>
    Task<long> DiscardAsync(string endpoint, string key, IReadOnlyCollection<Guid> messageIds, CancellationToken cancellationToken);
}

/// <summary>The right to deliver the messages of a lane, until somebody takes the lane over.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Lane">The number of the lane, from 0.</param>
/// <param name="Token">The fencing token: larger than that of every earlier owner.</param>
/// <param name="ParkedKeys">The keys of the endpoint that were parked when the lane was taken over.</param>
public sealed record LaneOwner(string Endpoint, int Lane, long Token, IReadOnlyCollection<string> ParkedKeys);

/// <summary>A message that waits in its key's line.</summary>
/// <param name="Message">As it was delivered, with the attempts so far.</param>
/// <param name="ParkedAt">Since when it waits.</param>
/// <param name="Failures">Its failed attempts; empty where it never was tried.</param>
/// <param name="DueAt">When it is tried again by itself; null where it waits for an operator, or behind others.</param>
public sealed record ParkedMessage(EsbMessage Message, DateTimeOffset ParkedAt, IReadOnlyList<FailedAttempt> Failures, DateTimeOffset? DueAt);

/// <summary>A parked message without what may be large: its headers and its body.</summary>
/// <param name="MessageId">The message.</param>
/// <param name="ConversationId">Its conversation.</param>
/// <param name="Subject">Its subject.</param>
/// <param name="Attempt">The attempts so far.</param>
/// <param name="Party">Who sent it, where that is known.</param>
public sealed record ParkedSummary(Guid MessageId, Guid ConversationId, string Subject, int Attempt, string? Party);

/// <summary>A key whose messages wait.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Key">The key.</param>
/// <param name="Count">How many messages wait.</param>
/// <param name="Since">When the first of them was parked.</param>
/// <param name="DueAt">When it is tried again by itself; null where it waits for an operator.</param>
/// <param name="Failure">The last failure of the first message.</param>
public sealed record ParkedKey(string Endpoint, string Key, long Count, DateTimeOffset Since, DateTimeOffset? DueAt, FailedAttempt? Failure);
