using Esb.Core.Messages;

namespace Esb.Core.Endpoints;

/// <summary>Where an inbound endpoint hands its messages to: runs the process or publishes, and records it. Thread-safe.</summary>
public interface IMessageIntake
{
    /// <summary>Whether messages are handed to topics on their way, and so cannot be taken in while those take none.</summary>
    bool NeedsTopics { get; }

    /// <summary>Takes a message in. When this returns, the message is confirmed (one-way) or answered (request-reply).</summary>
    /// <param name="message">Its body is buffered.</param>
    /// <param name="cancellationToken">Cancelled when the sender has gone or the host stops; what was confirmed by then stays so.</param>
    /// <exception cref="Errors.EsbException">It was not taken in, and why.</exception>
    ValueTask<IntakeResult> ReceiveAsync(EsbMessage message, CancellationToken cancellationToken);

    /// <summary>Records that something from outside was refused before it became a message.</summary>
    /// <param name="message">What is known of it.</param>
    /// <param name="code">Why, as a code.</param>
    /// <param name="reason">Why, as a sentence.</param>
    /// <param name="cancellationToken">Stops the recording.</param>
    ValueTask RefuseAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken);

    /// <summary>Records that something from outside ended before it was a whole message: nobody refused it.</summary>
    /// <inheritdoc cref="RefuseAsync"/>
    ValueTask AbortAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken);

    /// <summary>Records that something from outside came again, and that nothing was done.</summary>
    /// <inheritdoc cref="RefuseAsync"/>
    ValueTask RecognizeAsync(EsbMessage message, string code, string reason, CancellationToken cancellationToken);
}

/// <summary>What became of a message that was taken in.</summary>
/// <param name="MessageId">Under which it is found in audit.</param>
/// <param name="Reply">The answer; null in one-way, and where a filter ended the process.</param>
/// <param name="Status">The status code that the process asks for, such as that of an HTTP answer; null where none does.</param>
/// <param name="IsDurable">Whether it survives the end of this process.</param>
/// <param name="Settled">Completes when all that was published of it has been settled, where the transport is not durable.</param>
public sealed record IntakeResult(Guid MessageId, EsbMessage? Reply, int? Status, bool IsDurable, Task Settled);
