using Esb.Core.Messages;

namespace Esb.Core.Topics;

/// <summary>Reaches the queue of one endpoint, past its topics: no other subscriber sees the message. Thread-safe.</summary>
public interface IEndpointQueues
{
    /// <summary>Puts a message behind what waits in the queue of an endpoint, in the lane of its key where there are lanes.</summary>
    /// <param name="endpoint">An outbound endpoint that subscribes to something.</param>
    /// <param name="message">Goes as it is, with its id, subject and key; its body is buffered.</param>
    /// <param name="kind"><see cref="DeliveryKind.Replay"/>, or <see cref="DeliveryKind.Release"/> with a message of which only the key counts.</param>
    /// <param name="cancellationToken">Is looked at before the message is handed over, never after.</param>
    ValueTask<PublishResult> SendAsync(string endpoint, EsbMessage message, DeliveryKind kind, CancellationToken cancellationToken);
}
