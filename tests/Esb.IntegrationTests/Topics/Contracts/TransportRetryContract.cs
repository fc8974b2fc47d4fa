using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>What every transport must do with a message whose handler wants it again.</summary>
public abstract class TransportRetryContract(ITransportUnderTest underTest) : TopicTransportFixture(underTest)
{
    [Test, CancelAfter(20_000)]
    public async Task Later_comes_again_after_its_delay_with_the_attempts_counted_and_all_else_as_it_was(
        CancellationToken cancellationToken
    )
    {
        var inbox = new Inbox(delivery =>
            delivery.Message.Attempt < 2 ? new Settlement.Later(Rung, delivery.Message.Attempt + 1) : Settlement.Done
        );
        await SubscribeAsync(inbox, "orders.#");
        var message = Message("orders.accepted") with { Key = "k", CorrelationId = "c", Headers = MessageHeaders.Empty.With("x-a", "1") };

        var started = Stopwatch.GetTimestamp();
        await Transport.PublishAsync(message, cancellationToken);
        var deliveries = await inbox.NextAsync(3, cancellationToken);
        var last = deliveries[2].Message;

        Assert.That(Stopwatch.GetElapsedTime(started), Is.GreaterThanOrEqualTo(2 * Rung * 0.9));
        Assert.That(deliveries.Select(delivery => delivery.Message.Attempt), Is.EqualTo(new[] { 0, 1, 2 }));
        Assert.That(
            (last.Id, last.Subject, last.Key, last.CorrelationId, last.ConversationId, last.Headers["x-a"], last.Body.ReadText()),
            Is.EqualTo((message.Id, "orders.accepted", "k", "c", message.ConversationId, "1", "<order/>"))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Later_concerns_its_own_endpoint_only(CancellationToken cancellationToken)
    {
        var failing = new Inbox(delivery => delivery.Message.Attempt == 0 ? new Settlement.Later(Rung, 1) : Settlement.Done);
        var other = new Inbox();
        await SubscribeAsync(failing, "orders.#");
        await SubscribeAsync(other, "orders.#");

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        await failing.NextAsync(2, cancellationToken);
        await other.NextAsync(cancellationToken);

        Assert.That(other.TryNext(out _), Is.False);
    }

    [Test, CancelAfter(60_000), Property("Case", "XPT-11")]
    public async Task Hops_travel_with_a_message_also_to_its_next_attempt(CancellationToken cancellationToken)
    {
        var inbox = new Inbox(delivery => delivery.Message.Attempt == 0 ? new Settlement.Later(Rung, 1) : Settlement.Done);
        await SubscribeAsync(inbox, "orders.#");

        await Transport.PublishAsync(MessageHops.Set(Message("orders.accepted"), hops: 7), cancellationToken);
        var deliveries = await inbox.NextAsync(2, cancellationToken);

        Assert.That(deliveries.Select(delivery => MessageHops.Of(delivery.Message)), Is.EqualTo(new[] { 7, 7 }));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_returned_message_comes_again_without_turning_in_a_circle(CancellationToken cancellationToken)
    {
        var tries = 0;
        var inbox = new Inbox(_ => Interlocked.Increment(ref tries) < 4 ? Settlement.Return : Settlement.Done);
        await SubscribeAsync(inbox, "orders.#");
        var message = Message("orders.accepted");

        var started = Stopwatch.GetTimestamp();
        await Transport.PublishAsync(message, cancellationToken);
        var deliveries = await inbox.NextAsync(4, cancellationToken);

        Assert.That(deliveries.Select(delivery => (delivery.Message.Id, delivery.Message.Attempt)), Is.All.EqualTo((message.Id, 0)));
        Assert.That(Stopwatch.GetElapsedTime(started), Is.GreaterThan(TimeSpan.FromMilliseconds(250)));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_handler_that_throws_loses_nothing(CancellationToken cancellationToken)
    {
        var tries = 0;
        var inbox = new Inbox(_ => Interlocked.Increment(ref tries) == 1 ? throw new InvalidOperationException("A bug.") : Settlement.Done);
        await SubscribeAsync(inbox, "orders.#");

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        Assert.That(await inbox.NextAsync(2, cancellationToken), Has.Count.EqualTo(2));
    }
}
