using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Core.Endpoints;

/// <summary>Receives the messages of an inbound endpoint: runs the process or publishes, and records it. Thread-safe.</summary>
public interface IMessageIntake
{
    /// <summary>True if messages pass through topics, so that none can be accepted while topics are unavailable.</summary>
    bool NeedsTopics { get; }

    /// <summary>Accepts a message. When it returns, the message is confirmed (one-way) or answered (request-reply).</summary>
    /// <param name="message">The message; its body is buffered.</param>
    /// <param name="cancellationToken">Cancelled when the sender disconnects or the host stops; messages confirmed by then stay
    /// confirmed.</param>
    /// <exception cref="Errors.EsbException">The message was not accepted; the error gives the reason.</exception>
    ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, CancellationToken cancellationToken);

    /// <summary>As <see cref="ReceiveAsync(EsbMessage, CancellationToken)"/>, for an endpoint that publishes without a process: the message
    /// is published if, and only if, the unit of work commits.</summary>
    ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, IUnitOfWork unitOfWork, CancellationToken cancellationToken);

    /// <summary>Records that input from an external system was rejected before it became a message.</summary>
    /// <param name="message">The known part of the message.</param>
    /// <param name="code">The reason, as a code.</param>
    /// <param name="reason">The reason, as a sentence.</param>
    /// <param name="cancellationToken">Cancels the recording.</param>
    ValueTask RefuseAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken);

    /// <summary>Records that input from an external system ended before it was a whole message; it was not rejected.</summary>
    /// <inheritdoc cref="RefuseAsync"/>
    ValueTask AbortAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken);

    /// <summary>Records that input from an external system was a duplicate, and had no effect.</summary>
    /// <inheritdoc cref="RefuseAsync"/>
    ValueTask RecognizeAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken);
}

/// <summary>Result of accepting a message.</summary>
/// <param name="MessageId">Id of the message in the audit.</param>
/// <param name="Reply">The answer; null for one-way, and if a filter ended the process.</param>
/// <param name="Status">The status code requested by the process, such as for an HTTP answer; null if none.</param>
/// <param name="IsDurable">True if the message survives the end of this process.</param>
/// <param name="Settled">Completes when all messages published from it have been settled, if the transport is not durable.</param>
public sealed record IntakeResult(Guid MessageId, EsbMessage? Reply, int? Status, bool IsDurable, Task Settled);
