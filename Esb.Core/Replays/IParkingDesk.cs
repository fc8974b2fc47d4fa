using Esb.Core.Storage;

namespace Esb.Core.Replays;

/// <summary>Operator actions on messages that wait behind a failed one; every action is recorded. Thread-safe.</summary>
/// <remarks>A line belongs to a key, or to a whole endpoint that is blocked at a message. The latter is found on the host of the farm where
/// it is blocked.</remarks>
public interface IParkingDesk
{
    /// <summary>The lines: first whole endpoints, then keys; longest-waiting first in either.</summary>
    /// <param name="endpoint">The endpoint; null for all.</param>
    /// <param name="after">The last line of the page before; null for the first page.</param>
    /// <param name="limit">From 1 to 1,000.</param>
    /// <param name="cancellationToken">Cancels reading.</param>
    Task<IReadOnlyList<WaitingLine>> ListAsync(string? endpoint, WaitingPosition? after, int limit, CancellationToken cancellationToken);

    /// <summary>The messages of a line, in order; empty if it does not wait. For a whole endpoint, only the first is known.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="key">The key; empty for messages without one, null for the whole endpoint.</param>
    /// <param name="after">The <see cref="WaitingMessage.Number"/> of the last message of the page before; 0 for the first page.</param>
    /// <param name="limit">From 1 to 1,000.</param>
    /// <param name="cancellationToken">Cancels reading.</param>
    Task<IReadOnlyList<WaitingMessage>> MessagesAsync(
        string endpoint,
        string? key,
        long after,
        int limit,
        CancellationToken cancellationToken
    );

    /// <summary>A parked message with its body, unmasked; null if it does not wait in this line.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="key">The key; empty for messages without one.</param>
    /// <param name="messageId">The message.</param>
    /// <param name="cancellationToken">Cancels the search.</param>
    Task<Messages.EsbMessage?> FindAsync(string endpoint, string key, Guid messageId, CancellationToken cancellationToken);

    /// <summary>Retries the first message of a line now, and those behind it if it succeeds.</summary>
    /// <returns>True if the line waits.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-FARM-SILENT</c>, <c>ESB-FARM-UNAVAILABLE</c>: for a whole endpoint, if it is not
    /// blocked on this host and another host could not be asked.</exception>
    Task<bool> ReleaseAsync(string endpoint, string? key, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Discards one message of a line permanently, or all; delivery continues with the rest. For a whole endpoint, only the first
    /// can be discarded.</summary>
    /// <returns>Number of messages discarded.</returns>
    /// <exception cref="Errors.EsbException">As <see cref="ReleaseAsync"/>.</exception>
    Task<long> DiscardAsync(string endpoint, string? key, Guid? messageId, OperatorDecision decision, CancellationToken cancellationToken);
}

/// <summary>A line of waiting messages.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Key">Their key; empty for messages without one, null for the whole endpoint.</param>
/// <param name="Count">Number of waiting messages; for a whole endpoint, only the first is counted.</param>
/// <param name="Since">Start of the wait.</param>
/// <param name="DueAt">Time of the next automatic retry; null if it waits for an operator, or if the endpoint sets the pace.</param>
/// <param name="Failure">The last failure of the first message.</param>
public sealed record WaitingLine(
    string Endpoint,
    string? Key,
    long Count,
    DateTimeOffset Since,
    DateTimeOffset? DueAt,
    FailedAttempt? Failure
);

/// <summary>The place of a line in the list of lines.</summary>
/// <param name="Since">Start of its wait.</param>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Key">Its key; empty for messages without one, null for the whole endpoint.</param>
public sealed record WaitingPosition(DateTimeOffset Since, string Endpoint, string? Key);

/// <summary>A waiting message of a line.</summary>
/// <param name="Id">The message.</param>
/// <param name="Subject">Its subject; null if unknown here.</param>
/// <param name="ContentType">Its media type.</param>
/// <param name="BodyBytes">Bytes of its body; null if unknown here.</param>
/// <param name="Since">Start of its wait.</param>
/// <param name="DueAt">Time of the next automatic retry; null if it waits for an operator, or behind other messages.</param>
/// <param name="Failures">Its failed attempts; empty if it was never tried.</param>
public sealed record WaitingMessage(
    Guid Id,
    string? Subject,
    string? ContentType,
    long? BodyBytes,
    DateTimeOffset Since,
    DateTimeOffset? DueAt,
    IReadOnlyList<FailedAttempt> Failures
)
{
    /// <summary>Its place in the line: larger than those of the messages before it. 0 for the whole endpoint.</summary>
    public long Number { get; init; }

    /// <summary>Its headers, unmasked; null if unknown here.</summary>
    public IReadOnlyDictionary<string, string>? Headers { get; init; }
}
