using System.Diagnostics;
using Esb.Core.Messages;

namespace Esb.Core.Topics;

/// <summary>A message ready to be published, with the data for its audit fact and its trace.</summary>
/// <param name="Message">The message with its id, subject and key; its body is buffered.</param>
/// <param name="Endpoint">The endpoint at which its process was entered.</param>
/// <param name="Process">The process that publishes it; null if none.</param>
/// <param name="Parent">The trace of the message; default if none.</param>
public sealed record OutgoingMessage(EsbMessage Message, string Endpoint, string? Process, ActivityContext Parent)
{
    /// <summary>The message that its process received, if it is another; null if it is the same.</summary>
    public Guid? CausedBy { get; init; }

    /// <summary>The step that publishes it; null if no process does.</summary>
    public string? Step { get; init; }

    /// <summary>The caller who waits for an answer, which this is; null if it is published.</summary>
    public AnswerAddress? ReplyTo { get; init; }

    /// <summary>Of a request whose reply comes to any host of this configuration
    /// (<see cref="ITopicTransport.PublishRequestAsync"/>): when the reply is of no
    /// use any more. Null if it is no such request.</summary>
    public DateTimeOffset? ReplyUntil { get; init; }
}

/// <summary>A caller who waits for an answer. Immutable.</summary>
/// <param name="Address">Where the answer goes (<see cref="IReplyAddresses"/>).</param>
/// <param name="RequestSubject">The subject of the request; empty if it came through an endpoint.</param>
public sealed record AnswerAddress(string Address, string RequestSubject);

/// <summary>Publishes prepared messages. Thread-safe.</summary>
public interface IOutgoingPublisher
{
    /// <summary>Publishes a message and records it; when it returns, the message is confirmed. A message published again keeps its
    /// id.</summary>
    /// <returns>Completes when every subscriber has settled the message, if the transport is not durable; already completed if it
    /// is.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: it was rejected or the outcome is unknown, even after
    /// retries.</exception>
    Task<Task> PublishAsync(OutgoingMessage outgoing, CancellationToken cancellationToken);
}
