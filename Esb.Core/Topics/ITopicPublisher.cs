using Esb.Core.Processes;

namespace Esb.Core.Topics;

/// <summary>Publishes the messages of a process or an inbound endpoint: assigns subject, key and id, and records the message.
/// Thread-safe.</summary>
public interface ITopicPublisher
{
    /// <summary>Publishes the context's message; when it returns, the message is confirmed or, inside a transaction, will be published at
    /// its commit.</summary>
    /// <param name="context">The context of the message; it tracks when the message is settled.</param>
    /// <param name="subject">The subject.</param>
    /// <param name="step">Position of the publishing step, from which ids are derived.</param>
    /// <param name="cancellationToken">Checked before the message is handed over, never after.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: it was rejected, even after retries. <c>ESB-TOPIC-UNKNOWN</c>:
    /// the outcome is unknown; publishing it again with the same id is safe. <c>ESB-HDR-LIMIT</c>: its headers are too large.</exception>
    ValueTask PublishAsync(MessageContext context, Subject subject, string step, CancellationToken cancellationToken);

    /// <summary>Prepares a copy of the context's message for publishing, with its own id; both share the body.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-BODY-SIZE</c>, <c>ESB-HDR-LIMIT</c>: no topic would accept it.</exception>
    ValueTask<OutgoingMessage> CopyAsync(MessageContext context, Subject subject, string step, CancellationToken cancellationToken);

    /// <summary>Publishes the context's message as a request; the reply becomes the context's message.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-REQUEST-TIMEOUT</c>; <c>ESB-TOPIC-UNAVAILABLE</c>; <c>ESB-TOPIC-UNKNOWN</c>; or the
    /// fault received as the reply.</exception>
    ValueTask RequestAsync(MessageContext context, Subject subject, TimeSpan timeout, string step, CancellationToken cancellationToken);
}
