using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Delivery.Attempts;
using Esb.Delivery.Outbound;

namespace Esb.Delivery.Modes;

/// <summary>What an endpoint's <c>delivery</c> makes of a message: one implementation for each <see cref="DeliveryMode"/>. Thread-safe.</summary>
internal interface IDeliveryMode
{
    /// <summary>Delivers, or decides what else becomes of the message.</summary>
    Task<Settlement> DeliverAsync(TopicDelivery delivery, DeliveryAttempts attempts, DeliveryTokens tokens);

    /// <summary>Works on what is parked under the key of a release.</summary>
    Task<Settlement> ReleaseAsync(TopicDelivery delivery, DeliveryTokens tokens) => Task.FromResult(Settlement.Done);
}
