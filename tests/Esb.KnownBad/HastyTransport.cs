using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.KnownBad;

/// <summary>A transport whose deliveries are acknowledged when their work begins, not when it is done.</summary>
internal sealed class HastyTransport(ITopicTransport inner) : ITopicTransport
{
    public string System => inner.System;

    public bool IsDurable => inner.IsDurable;

    public TransportStatus Status => inner.Status;

    public Task StartAsync(CancellationToken cancellationToken) => inner.StartAsync(cancellationToken);

    public ValueTask<PublishResult> PublishAsync(EsbMessage message, CancellationToken cancellationToken) => inner.PublishAsync(message, cancellationToken);

    public Task<EsbMessage> RequestAsync(EsbMessage request, TimeSpan timeout, CancellationToken cancellationToken) =>
        inner.RequestAsync(request, timeout, cancellationToken);

    public Task<ITopicSubscription> SubscribeAsync(Subscription subscription, DeliveryHandler handler, CancellationToken cancellationToken) =>
        inner.SubscribeAsync(subscription, (delivery, token) => ValueTask.FromResult(AcknowledgeNow(delivery, handler)), cancellationToken);

    public Task<ITopicReader> ReadDeadLettersAsync(DeadLetterHandler handler, CancellationToken cancellationToken) =>
        inner.ReadDeadLettersAsync(handler, cancellationToken);

    public ValueTask DisposeAsync() => inner.DisposeAsync();

    private static Settlement AcknowledgeNow(TopicDelivery delivery, DeliveryHandler handler)
    {
        _ = Task.Run(async () => await handler(delivery, CancellationToken.None));
        return Settlement.Done;
    }
}
