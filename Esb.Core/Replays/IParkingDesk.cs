using Esb.Core.Storage;

namespace Esb.Core.Replays;

/// <summary>What an operator may do with messages that wait behind one that failed; everything is recorded. Thread-safe.</summary>
/// <remarks>A line is that of a key, or that of a whole endpoint which stands at a message. The latter is found on whichever host of the farm it stands.</remarks>
public interface IParkingDesk
{
    /// <summary>The lines, that which has waited longest first.</summary>
    /// <param name="endpoint">Of one endpoint; of all where it is null.</param>
    /// <param name="limit">From 1 to 1,000.</param>
    /// <param name="cancellationToken">Stops reading.</param>
    Task<IReadOnlyList<WaitingLine>> ListAsync(string? endpoint, int limit, CancellationToken cancellationToken);

    /// <summary>The messages of a line, in order; none where it does not wait. Of a whole endpoint only the first is known.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="key">The key; empty for messages without one, null for the whole endpoint.</param>
    /// <param name="limit">From 1 to 1,000.</param>
    /// <param name="cancellationToken">Stops reading.</param>
    Task<IReadOnlyList<WaitingMessage>> MessagesAsync(string endpoint, string? key, int limit, CancellationToken cancellationToken);

    /// <summary>Has the first message of a line tried again now, and those behind it when it succeeds.</summary>
    /// <returns>Whether the line waits.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-FARM-SILENT</c>, <c>ESB-FARM-UNAVAILABLE</c>: of a whole endpoint, where it does not stand on this host and another could not be asked.</exception>
    Task<bool> ReleaseAsync(string endpoint, string? key, OperatorDecision decision, CancellationToken cancellationToken);

    /// <summary>Gives a message of a line up for good, or all; the line goes on with the rest. Of a whole endpoint only the first can be given up.</summary>
    /// <returns>How many were given up.</returns>
    /// <exception cref="Errors.EsbException">As <see cref="ReleaseAsync"/>.</exception>
    Task<long> DiscardAsync(string endpoint, string? key, Guid? messageId, OperatorDecision decision, CancellationToken cancellationToken);
}

/// <summary>A line of messages that wait.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Key">Their key; empty for messages without one, null for the whole endpoint.</param>
/// <param name="Count">How many wait; of a whole endpoint only the first is counted.</param>
/// <param name="Since">Since when.</param>
/// <param name="DueAt">When the first is tried again by itself; null where it waits for an operator, or for an endpoint's own pace.</param>
/// <param name="Failure">The last failure of the first.</param>
public sealed record WaitingLine(string Endpoint, string? Key, long Count, DateTimeOffset Since, DateTimeOffset? DueAt, FailedAttempt? Failure);

/// <summary>A message that waits in a line.</summary>
/// <param name="Id">The message.</param>
/// <param name="Subject">Its subject; null where it is not known here.</param>
/// <param name="ContentType">Its media type.</param>
/// <param name="BodyBytes">Bytes of its body; null where they are not known here.</param>
/// <param name="Since">Since when it waits.</param>
/// <param name="DueAt">When it is tried again by itself; null where it waits for an operator, or behind others.</param>
/// <param name="Failures">Its failed attempts; empty where it never was tried.</param>
public sealed record WaitingMessage(Guid Id, string? Subject, string? ContentType, long? BodyBytes, DateTimeOffset Since, DateTimeOffset? DueAt, IReadOnlyList<FailedAttempt> Failures);
