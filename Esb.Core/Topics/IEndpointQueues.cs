using Esb.Core.Messages;

namespace Esb.Core.Topics;

/// <summary>Reaches the queue of one endpoint, bypassing its topics: no other subscriber sees the message. Thread-safe.</summary>
public interface IEndpointQueues
{
    /// <summary>Appends a message to the queue of an endpoint, in the lane of its key if there are lanes.</summary>
    /// <param name="endpoint">An outbound endpoint that has a queue.</param>
    /// <param name="message">The message, sent unchanged, with its id, subject and key; its body is buffered.</param>
    /// <param name="kind"><see cref="DeliveryKind.Replay"/>, or <see cref="DeliveryKind.Release"/> with a message whose key alone
    /// counts.</param>
    /// <param name="cancellationToken">Checked before the message is handed over, never after.</param>
    ValueTask<PublishResult> SendAsync(string endpoint, EsbMessage message, DeliveryKind kind, CancellationToken cancellationToken);
}
