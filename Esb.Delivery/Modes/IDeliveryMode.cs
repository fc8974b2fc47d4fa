using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Outbound;

namespace Esb.Delivery.Modes;

/// <summary>The delivery of a message according to the endpoint's <c>delivery</c>; one implementation for each <see cref="DeliveryMode"/>.
/// Thread-safe.</summary>
internal interface IDeliveryMode
{
    /// <summary>Delivers the message, or settles it in another way.</summary>
    Task<Settlement> DeliverAsync(TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens);

    /// <summary>Processes the messages parked under the key of a release.</summary>
    Task<Settlement> ReleaseAsync(TopicDelivery delivery, DeliveryTokens tokens) => Task.FromResult(Settlement.Done);
}
