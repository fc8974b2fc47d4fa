using Esb.Configuration;
using Esb.Core.Topics;
using Esb.Topics.Memory;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>The embedded transport keeps the contract, and tells when a message is settled.</summary>
[TestFixture]
public sealed class MemoryTopicTransportTests() : TopicTransportContract(new MemoryUnderTest())
{
    [Test, CancelAfter(60_000)]
    public async Task A_message_is_settled_when_its_last_subscriber_is_done(CancellationToken cancellationToken)
    {
        var end = new TaskCompletionSource();
        await SubscribeAsync(new Inbox(), "orders.#");
        await SubscribeAsync(
            async (delivery, _) =>
            {
                await end.Task;
                return delivery.Message.Attempt == 0 ? new Settlement.Later(Rung, 1) : Settlement.Done;
            },
            Subscription("orders.#")
        );

        var result = await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        var wasSettledBefore = result.Settled.IsCompleted;
        end.SetResult();
        await result.Settled.WaitAsync(cancellationToken);

        Assert.That(wasSettledBefore, Is.False);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_diverted_message_is_settled_when_its_dead_letter_has_been_taken(CancellationToken cancellationToken)
    {
        await SubscribeAsync(new Inbox(delivery => new Settlement.Divert(Letter(delivery.Message))), "orders.#");
        var result = await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        var letters = await ReadDeadLettersAsync();
        await result.Settled.WaitAsync(cancellationToken);

        Assert.That(letters.Reader.TryRead(out _), Is.True);
    }

    [Test, CancelAfter(60_000)]
    public async Task More_messages_than_allowed_are_refused_until_others_are_settled(CancellationToken cancellationToken)
    {
        await using var transport = new MemoryTransport(
            new LimitsConfig { InFlight = 2 },
            TimeProvider.System,
            NullLogger<MemoryTransport>.Instance
        );
        var end = new TaskCompletionSource();
        await using var subscription = await transport.SubscribeAsync(
            Subscription("orders.#"),
            async (_, _) =>
            {
                await end.Task;
                return Settlement.Done;
            },
            cancellationToken
        );

        var kept = new[]
        {
            await transport.PublishAsync(Message("orders.1"), cancellationToken),
            await transport.PublishAsync(Message("orders.2"), cancellationToken),
        };
        var refused = await transport.PublishAsync(Message("orders.3"), cancellationToken);
        end.SetResult();
        await Task.WhenAll(kept.Select(result => result.Settled)).WaitAsync(cancellationToken);
        var again = await transport.PublishAsync(Message("orders.3"), cancellationToken);

        Assert.That((refused.Outcome, refused.Reason), Is.EqualTo((PublishOutcome.Refused, "too many messages in flight")));
        Assert.That(again.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
    }

    [Test, CancelAfter(60_000)]
    public async Task What_is_made_of_a_message_is_taken_although_nothing_else_is_and_settled_with_it(CancellationToken cancellationToken)
    {
        await using var transport = new MemoryTransport(
            new LimitsConfig { InFlight = 1 },
            TimeProvider.System,
            NullLogger<MemoryTransport>.Instance
        );
        var (made, end) = (new TaskCompletionSource<PublishOutcome>(), new TaskCompletionSource());
        await using var working = await transport.SubscribeAsync(
            Subscription("orders.#") with
            {
                Publishes = true,
            },
            async (delivery, token) =>
            {
                var result = await transport.PublishAsync(Message($"bills.{delivery.Message.Subject}"), token);
                made.SetResult(result.Outcome);
                return Settlement.Done;
            },
            cancellationToken
        );
        await using var ending = await transport.SubscribeAsync(
            Subscription("bills.#") with
            {
                Endpoint = "bills",
            },
            async (_, _) =>
            {
                await end.Task;
                return Settlement.Done;
            },
            cancellationToken
        );

        var order = await transport.PublishAsync(Message("orders.1"), cancellationToken);
        var outcome = await made.Task.WaitAsync(cancellationToken);
        var other = await transport.PublishAsync(Message("orders.2"), cancellationToken);
        var wasSettled = order.Settled.IsCompleted;
        end.SetResult();
        await order.Settled.WaitAsync(cancellationToken);

        Assert.That((outcome, other.Outcome), Is.EqualTo((PublishOutcome.Confirmed, PublishOutcome.Refused)));
        Assert.That(wasSettled, Is.False, "its bill was not");
    }

    [Test, CancelAfter(60_000)]
    public async Task Only_the_newest_thousand_that_nobody_wants_are_kept(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 1_010; i++)
            await Transport.PublishAsync(Message("orders.never", $"{i}"), cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        var replay = await Unroutable.ReplayAsync(subject: null, limit: 10_000, cancellationToken);

        Assert.That((replay.Replayed, (await inbox.NextAsync(cancellationToken)).Message.Body.ReadText()), Is.EqualTo((1_000, "10")));
    }
}
