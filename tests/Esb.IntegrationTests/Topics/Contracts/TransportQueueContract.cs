using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>What every transport must do with a message for one endpoint.</summary>
public abstract class TransportQueueContract(ITransportUnderTest underTest) : TopicTransportFixture(underTest)
{
    private IEndpointQueues Queues => (IEndpointQueues)Transport;

    [Test, CancelAfter(60_000)]
    public async Task What_is_sent_to_one_endpoint_reaches_no_other_and_says_how_it_came(
        [Values(null, 4)] int? lanes,
        CancellationToken cancellationToken
    )
    {
        var inbox = new Inbox();
        var other = new Inbox();
        var subscription = Subscription("orders.#") with { Lanes = lanes, RetryDelays = lanes is null ? [Rung] : [] };
        await SubscribeAsync(inbox.HandleAsync, subscription);
        await SubscribeAsync(other, "orders.#");
        var message = Message("orders.accepted") with
        {
            Key = "k",
            Attempt = 3,
            Party = "shop",
            Headers = MessageHeaders.Empty.With("x-a", "1"),
        };

        var replayed = await Queues.SendAsync(subscription.Endpoint, message, DeliveryKind.Replay, cancellationToken);
        var replay = await inbox.NextAsync(cancellationToken);
        await Queues.SendAsync(subscription.Endpoint, message, DeliveryKind.Release, cancellationToken);
        var release = await inbox.NextAsync(cancellationToken);
        await Transport.PublishAsync(Message("orders.accepted", "published"), cancellationToken);
        var published = await inbox.NextAsync(cancellationToken);
        var first = await other.NextAsync(cancellationToken);

        Assert.That(replayed.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That(
            (replay.Kind, release.Kind, published.Kind),
            Is.EqualTo((DeliveryKind.Replay, DeliveryKind.Release, DeliveryKind.Published))
        );
        Assert.That(
            (
                replay.Message.Id,
                replay.Message.Subject,
                replay.Message.Key,
                replay.Message.Attempt,
                replay.Message.Party,
                replay.Message.Headers["x-a"],
                replay.Message.Body.ReadText()
            ),
            Is.EqualTo((message.Id, "orders.accepted", "k", 3, "shop", "1", "<order/>"))
        );
        Assert.That(first.Message.Body.ReadText(), Is.EqualTo("published"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_replay_that_is_tried_again_later_still_is_one(CancellationToken cancellationToken)
    {
        var inbox = new Inbox(delivery => delivery.Message.Attempt == 0 ? new Settlement.Later(Rung, 1) : Settlement.Done);
        var subscription = Subscription("orders.#");
        await SubscribeAsync(inbox.HandleAsync, subscription);

        await Queues.SendAsync(subscription.Endpoint, Message("orders.accepted"), DeliveryKind.Replay, cancellationToken);
        var deliveries = await inbox.NextAsync(2, cancellationToken);

        Assert.That(
            deliveries.Select(delivery => (delivery.Kind, delivery.Message.Attempt)),
            Is.EqualTo(new[] { (DeliveryKind.Replay, 0), (DeliveryKind.Replay, 1) })
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task An_endpoint_without_a_queue_gets_nothing(CancellationToken cancellationToken)
    {
        var result = await Queues.SendAsync("nobody", Message("orders.accepted"), DeliveryKind.Replay, cancellationToken);

        Assert.That((result.Outcome, result.Reason), Is.EqualTo((PublishOutcome.Refused, "no such queue")));
    }
}
