using Esb.Core.Messages;

namespace Esb.Core.Storage;

/// <summary>Stores the messages of a key that wait behind a failed one, for endpoints that deliver in the order of a key. Durable when a
/// call returns. Thread-safe.</summary>
/// <remarks>
/// A host takes a lane over before it delivers the lane's messages; further calls of an earlier owner are rejected (pattern: fencing
/// token).
/// A key is parked from its first parked message until its last one is removed; messages that arrive in between join the end.
/// </remarks>
public interface IParkingStore
{
    /// <summary>Takes a lane over from its previous owner.</summary>
    /// <returns>The proof of ownership, and the parked keys, including those of other lanes, so that nothing depends on the number of
    /// lanes.</returns>
    Task<LaneOwner> TakeLaneAsync(string endpoint, int lane, CancellationToken cancellationToken);

    /// <summary>Verifies that the lane still belongs to its owner.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    Task VerifyAsync(LaneOwner owner, CancellationToken cancellationToken);

    /// <summary>Parks a message: it becomes the first of its key, or joins the end. A message of an endpoint is parked once.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>: another owner has taken the lane over.</exception>
    Task ParkAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken);

    /// <summary>Parks a message if its key is still parked.</summary>
    /// <returns>False if the key is no longer parked, because an operator discarded its messages: then the message is not parked
    /// either.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    Task<bool> TryJoinAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken);

    /// <summary>The first message of a key; null if the key is not parked.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    Task<ParkedMessage?> FirstAsync(LaneOwner owner, string key, CancellationToken cancellationToken);

    /// <summary>Removes a message that was delivered, or otherwise disposed of.</summary>
    /// <returns>True if its key is no longer parked.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    Task<bool> RemoveAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken);

    /// <summary>Records another attempt of the first message: its attempts, its last failure, and its next due time. If an operator
    /// discarded the message meanwhile, the messages behind it are unchanged.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-LANE-LOST</c>.</exception>
    Task RescheduleAsync(LaneOwner owner, ParkedMessage message, CancellationToken cancellationToken);

    /// <summary>Takes the due keys of an endpoint. Each is returned once in 30 s, to one host, which then sends the lane a
    /// release.</summary>
    Task<IReadOnlyList<string>> TakeDueAsync(string endpoint, CancellationToken cancellationToken);

    /// <summary>Parked keys, longest parked first.</summary>
    /// <param name="endpoint">The endpoint; null for all.</param>
    /// <param name="after">The last key of the page before; null for the first page.</param>
    /// <param name="limit">From 1 to 1,000.</param>
    /// <param name="cancellationToken">Cancels reading.</param>
    Task<IReadOnlyList<ParkedKey>> ListAsync(string? endpoint, ParkedPosition? after, int limit, CancellationToken cancellationToken);

    /// <summary>The messages of a parked key, in order.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="key">The key.</param>
    /// <param name="after">The <see cref="ParkedMessage.Number"/> of the last message of the page before; 0 for the first page.</param>
    /// <param name="limit">From 1 to 1,000.</param>
    /// <param name="cancellationToken">Cancels reading.</param>
    Task<IReadOnlyList<ParkedMessage>> MessagesAsync(
        string endpoint,
        string key,
        long after,
        int limit,
        CancellationToken cancellationToken
    );

    /// <summary>A message of a parked key; null if it does not wait there.</summary>
    Task<ParkedMessage?> FindAsync(string endpoint, string key, Guid messageId, CancellationToken cancellationToken);

    /// <summary>Makes a key due now, at the request of an operator.</summary>
    /// <returns>True if it is parked.</returns>
    Task<bool> ReleaseAsync(string endpoint, string key, CancellationToken cancellationToken);

    /// <summary>Summaries of the messages of a key, recorded before they are discarded, from the end of its line.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="key">The key.</param>
    /// <param name="messageId">One message; null for the last ones.</param>
    /// <param name="limit">Maximum number of messages.</param>
    /// <param name="cancellationToken">Cancels reading.</param>
    Task<IReadOnlyList<ParkedSummary>> SummariesAsync(
        string endpoint,
        string key,
        Guid? messageId,
        int limit,
        CancellationToken cancellationToken
    );

    /// <summary>Removes messages of a key permanently, at the request of an operator; delivery continues with the rest.</summary>
    /// <returns>Number of removed messages, which still waited.</returns>
    Task<long> DiscardAsync(string endpoint, string key, IReadOnlyCollection<Guid> messageIds, CancellationToken cancellationToken);
}

/// <summary>The right to deliver the messages of a lane, until another owner takes it over.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Lane">The number of the lane, from 0.</param>
/// <param name="Token">The fencing token, larger than those of all earlier owners.</param>
/// <param name="ParkedKeys">Keys of the endpoint that were parked when the lane was taken over.</param>
public sealed record LaneOwner(string Endpoint, int Lane, long Token, IReadOnlyCollection<string> ParkedKeys);

/// <summary>A waiting message in its key's line.</summary>
/// <param name="Message">The message as delivered, with its attempts so far.</param>
/// <param name="ParkedAt">Start of its wait.</param>
/// <param name="Failures">Its failed attempts; empty if it was never tried.</param>
/// <param name="DueAt">Time of the next automatic retry; null if it waits for an operator, or behind other messages.</param>
public sealed record ParkedMessage(
    EsbMessage Message,
    DateTimeOffset ParkedAt,
    IReadOnlyList<FailedAttempt> Failures,
    DateTimeOffset? DueAt
)
{
    /// <summary>Its place in the line: larger than those of the messages before it. 0 until it is stored.</summary>
    public long Number { get; init; }
}

/// <summary>The place of a key in the list of parked keys.</summary>
/// <param name="Since">Time at which its first message was parked.</param>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Key">The key.</param>
public sealed record ParkedPosition(DateTimeOffset Since, string Endpoint, string Key);

/// <summary>A parked message without its headers and body, which may be large.</summary>
/// <param name="MessageId">The message.</param>
/// <param name="ConversationId">Its conversation.</param>
/// <param name="Subject">Its subject.</param>
/// <param name="Attempt">The attempts so far.</param>
/// <param name="Party">The party that sent it, if known.</param>
public sealed record ParkedSummary(Guid MessageId, Guid ConversationId, string Subject, int Attempt, string? Party);

/// <summary>A key with waiting messages.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Key">The key.</param>
/// <param name="Count">Number of waiting messages.</param>
/// <param name="Since">Time at which the first of them was parked.</param>
/// <param name="DueAt">Time of the next automatic retry; null if it waits for an operator.</param>
/// <param name="Failure">The last failure of the first message.</param>
public sealed record ParkedKey(
    string Endpoint,
    string Key,
    long Count,
    DateTimeOffset Since,
    DateTimeOffset? DueAt,
    FailedAttempt? Failure
);
