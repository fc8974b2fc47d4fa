using Esb.Core.Processes;

namespace Esb.Core.Topics;

/// <summary>Publishes what a process or an inbound endpoint made: gives the message its subject, key and id, and records it. Thread-safe.</summary>
public interface ITopicPublisher
{
    /// <summary>Publishes the context's message; when this returns it is confirmed, or, inside of a transaction, will be published once that is committed.</summary>
    /// <param name="context">Its message is published; it learns when the message is settled.</param>
    /// <param name="subject">Where to.</param>
    /// <param name="step">The place of the publishing step, from which ids are derived.</param>
    /// <param name="cancellationToken">Is looked at before the message is handed over, never after.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: it was refused, also after repetition. <c>ESB-TOPIC-UNKNOWN</c>: nobody can tell; publishing it again with the same id is safe. <c>ESB-HDR-LIMIT</c>: its headers are too large.</exception>
    ValueTask PublishAsync(MessageContext context, Subject subject, string step, CancellationToken cancellationToken);

    /// <summary>Makes a copy of the context's message ready to be published, with an id of its own; both share the body.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-BODY-SIZE</c>, <c>ESB-HDR-LIMIT</c>: no topic would take it.</exception>
    ValueTask<OutgoingMessage> CopyAsync(MessageContext context, Subject subject, string step, CancellationToken cancellationToken);

    /// <summary>Publishes the context's message as a request and makes the reply the context's message.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-REQUEST-TIMEOUT</c>; <c>ESB-TOPIC-UNAVAILABLE</c>; <c>ESB-TOPIC-UNKNOWN</c>; or the fault that came as the reply.</exception>
    ValueTask RequestAsync(MessageContext context, Subject subject, TimeSpan timeout, string step, CancellationToken cancellationToken);
}
