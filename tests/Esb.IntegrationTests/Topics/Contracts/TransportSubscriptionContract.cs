using System.Collections.Concurrent;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>What every transport must do with a subscription that is tuned, paused, ended or replaced.</summary>
public abstract class TransportSubscriptionContract(ITransportUnderTest underTest) : TopicTransportFixture(underTest)
{
    [TestCase(false, null), TestCase(true, null), TestCase(false, 4)]
    [CancelAfter(60_000)]
    public async Task A_subscription_goes_on_with_other_numbers_without_losing_or_doubling_or_overtaking(
        bool isSingleActive,
        int? lanes,
        CancellationToken cancellationToken
    )
    {
        var seen = new ConcurrentQueue<(string Key, int Number)>();
        var subscription = Subscription("orders.#") with { SingleActive = isSingleActive, Lanes = lanes, RetryDelays = [] };
        var running = await SubscribeAsync(
            async (delivery, _) =>
            {
                await Task.Delay(1, cancellationToken);
                seen.Enqueue((delivery.Message.Key!, int.Parse(delivery.Message.Body.ReadText())));
                return Settlement.Done;
            },
            subscription
        );
        var publishing = PublishManyAsync(600, keys: 12, cancellationToken);

        for (var round = 0; round < 4; round++)
        {
            await Eventually.HoldsAsync(() => seen.Count >= 100 * (round + 1), cancellationToken);
            await running.TuneAsync(isSingleActive ? 1 : 1 + round, 8 << round, isPaused: round % 2 == 1, cancellationToken);
            if (round % 2 == 1)
                await running.TuneAsync(1, 32, isPaused: false, cancellationToken);
        }

        await publishing;
        await Eventually.HoldsAsync(() => seen.Count >= 600, cancellationToken);
        Assert.That(seen.Select(delivery => delivery.Number).Order(), Is.EqualTo(Enumerable.Range(0, 600)));
        if (isSingleActive)
            Assert.That(seen.Select(delivery => delivery.Number), Is.Ordered);
        if (lanes is null)
            return;
        foreach (var key in seen.GroupBy(delivery => delivery.Key))
            Assert.That(key.Select(delivery => delivery.Number), Is.Ordered, key.Key);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_paused_subscription_gets_nothing_and_says_that_it_is_meant(
        [Values(null, 4)] int? lanes,
        CancellationToken cancellationToken
    )
    {
        var inbox = new Inbox();
        var running = await SubscribeAsync(inbox.HandleAsync, Subscription("orders.#") with { Lanes = lanes, RetryDelays = [] });

        await running.TuneAsync(1, 32, isPaused: true, cancellationToken);
        var paused = (running.IsLive, running.IsPaused, running.Reason);
        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        await Task.Delay(300, cancellationToken); // nothing comes: that cannot be waited for
        var cameTooEarly = inbox.TryNext(out _);
        await running.TuneAsync(2, 32, isPaused: false, cancellationToken);
        await inbox.NextAsync(cancellationToken);

        Assert.That(paused, Is.EqualTo((false, true, (string?)null)));
        Assert.That(cameTooEarly, Is.False);
        Assert.That((running.IsLive, running.IsPaused), Is.EqualTo((true, false)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Disposing_a_subscription_waits_for_deliveries_under_way_and_keeps_the_others(CancellationToken cancellationToken)
    {
        var began = new TaskCompletionSource();
        var end = new TaskCompletionSource();
        var handled = 0;
        var subscription = Subscription("orders.#") with { Prefetch = 1 };
        var running = await SubscribeAsync(
            async (_, _) =>
            {
                began.TrySetResult();
                await end.Task;
                Interlocked.Increment(ref handled);
                return Settlement.Done;
            },
            subscription
        );
        for (var i = 0; i < 3; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}"), cancellationToken);
        await began.Task.WaitAsync(cancellationToken);

        var disposing = running.DisposeAsync().AsTask();
        var wasDoneBefore = disposing.IsCompleted;
        end.SetResult();
        await disposing.WaitAsync(cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, subscription);
        var rest = await inbox.NextAsync(2, cancellationToken);

        Assert.That((wasDoneBefore, handled, running.IsLive), Is.EqualTo((false, 1, false)));
        Assert.That(Texts(rest), Is.EquivalentTo(new[] { "1", "2" }));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_new_subscription_of_an_endpoint_replaces_its_patterns(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.#");
        await (await SubscribeAsync(new Inbox().HandleAsync, subscription)).DisposeAsync();
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, subscription with { Patterns = [SubjectPattern.Parse("invoices.#")!] });

        // What an earlier configuration wanted may come for a while: other hosts may still have it.
        for (var only = false; !only; await Task.Delay(100, cancellationToken))
        {
            await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
            await Transport.PublishAsync(Message("invoices.sent"), cancellationToken);
            only = (await inbox.NextAsync(cancellationToken)).Message.Subject == "invoices.sent";
            if (!only)
                await inbox.NextAsync(cancellationToken);
        }

        Assert.That(inbox.TryNext(out _), Is.False);
    }

    /// <summary>Publishes numbers, each under one of some keys.</summary>
    private async Task PublishManyAsync(int count, int keys, CancellationToken cancellationToken)
    {
        for (var i = 0; i < count; i++)
        {
            var message = Message("orders.accepted", $"{i}") with { Key = $"key-{i % keys}" };
            while ((await Transport.PublishAsync(message, cancellationToken)).Outcome != PublishOutcome.Confirmed)
                await Task.Delay(20, cancellationToken);
        }
    }
}
