using System.Collections.Concurrent;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>What every transport must do for endpoints that keep an order: of all messages, or of those of each key.</summary>
public abstract class TransportOrderContract(ITransportUnderTest underTest) : TopicTransportFixture(underTest)
{
    [Test, CancelAfter(60_000)]
    public async Task A_single_active_subscriber_gets_messages_one_by_one_in_their_order(CancellationToken cancellationToken)
    {
        var seen = new ConcurrentQueue<string>();
        var atOnce = 0;
        var most = 0;
        DeliveryHandler handler = async (delivery, _) =>
        {
            most = Math.Max(most, Interlocked.Increment(ref atOnce));
            await Task.Yield();
            seen.Enqueue(delivery.Message.Body.ReadText());
            Interlocked.Decrement(ref atOnce);
            return Settlement.Done;
        };
        var subscription = Subscription("orders.#") with { SingleActive = true, Concurrency = 8, Prefetch = 50 };
        await SubscribeAsync(handler, subscription);
        await SubscribeAsync(handler, subscription, await OtherHostAsync());

        for (var i = 0; i < 200; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);
        await Eventually.HoldsAsync(() => seen.Count >= 200, cancellationToken);

        Assert.That(seen, Is.EqualTo(Enumerable.Range(0, 200).Select(i => $"{i}")));
        Assert.That(most, Is.EqualTo(1));
    }

    [Test, CancelAfter(60_000)]
    public async Task In_order_a_returned_message_is_not_overtaken(CancellationToken cancellationToken)
    {
        var seen = new ConcurrentQueue<string>();
        var refusals = 3;
        var inbox = new Inbox(delivery =>
        {
            var text = delivery.Message.Body.ReadText();
            if (text == "5" && Interlocked.Decrement(ref refusals) >= 0)
                return Settlement.Return;
            seen.Enqueue(text);
            return Settlement.Done;
        });
        await SubscribeAsync(inbox.HandleAsync, Subscription("orders.#") with { SingleActive = true, Prefetch = 50 });

        for (var i = 0; i < 20; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);
        await Eventually.HoldsAsync(() => seen.Count >= 20, cancellationToken);

        Assert.That(seen, Is.EqualTo(Enumerable.Range(0, 20).Select(i => $"{i}")));
    }

    [Test, CancelAfter(60_000)]
    public async Task In_order_the_next_subscriber_goes_on_where_the_last_one_stood(CancellationToken cancellationToken)
    {
        var stands = new TaskCompletionSource();
        var first = new Inbox(delivery =>
        {
            if (delivery.Message.Body.ReadText() != "3")
                return Settlement.Done;
            stands.TrySetResult();
            return Settlement.Return;
        });
        var second = new Inbox();
        var subscription = Subscription("orders.#") with { SingleActive = true, Prefetch = 50 };
        var running = await SubscribeAsync(first.HandleAsync, subscription);
        for (var i = 0; i < 20; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);
        await stands.Task.WaitAsync(cancellationToken);

        await running.DisposeAsync();
        await SubscribeAsync(second.HandleAsync, subscription);
        var rest = await second.NextAsync(17, cancellationToken);

        Assert.That(Texts(rest), Is.EqualTo(Enumerable.Range(3, 17).Select(i => $"{i}")));
    }

    [Test, CancelAfter(30_000)]
    public async Task Lanes_keep_the_order_of_each_key_while_several_keys_are_worked_on_at_once(CancellationToken cancellationToken)
    {
        var seen = new ConcurrentQueue<(string Key, int Number)>();
        var busy = new ConcurrentDictionary<int, int>();
        var (atOnce, most, overlapping) = (0, 0, 0);
        DeliveryHandler handler = async (delivery, _) =>
        {
            if (busy.AddOrUpdate(delivery.Source.Lane, 1, (_, count) => count + 1) > 1)
                Interlocked.Increment(ref overlapping);
            most = Math.Max(most, Interlocked.Increment(ref atOnce));
            await Task.Delay(2, cancellationToken);
            seen.Enqueue((delivery.Message.Key!, int.Parse(delivery.Message.Body.ReadText())));
            Interlocked.Decrement(ref atOnce);
            busy.AddOrUpdate(delivery.Source.Lane, 0, (_, count) => count - 1);
            return Settlement.Done;
        };
        await SubscribeAsync(handler, Lanes(8) with { Concurrency = 3 });

        for (var i = 0; i < 300; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = $"key-{i % 30}" }, cancellationToken);
        await Eventually.HoldsAsync(() => seen.Count >= 300, cancellationToken);

        foreach (var key in seen.GroupBy(delivery => delivery.Key))
            Assert.That(key.Select(delivery => delivery.Number), Is.Ordered, key.Key);
        Assert.That((most, overlapping), Is.EqualTo((3, 0)));
    }

    [Test, CancelAfter(60_000)]
    public async Task In_a_lane_each_turn_keeps_its_order_while_another_one_stands(CancellationToken cancellationToken)
    {
        var seen = new ConcurrentQueue<string>();
        var refusals = 3;
        var standing = new TaskCompletionSource();
        DeliveryHandler handler = async (delivery, _) =>
        {
            var text = delivery.Message.Body.ReadText();
            if (text == "a0")
                await standing.Task.WaitAsync(cancellationToken); // until the last of another turn was worked on
            if (text == "b9")
                standing.SetResult();
            if (text == "a5" && Interlocked.Decrement(ref refusals) >= 0)
                return Settlement.Return;
            seen.Enqueue(text);
            return Settlement.Done;
        };
        await SubscribeAsync(handler, Lanes(4) with { Concurrency = 64, TurnOf = message => message.Body.ReadText()[..1] });

        for (var i = 0; i < 20; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{(i % 2 == 0 ? 'a' : 'b')}{i / 2}"), cancellationToken);
        await Eventually.HoldsAsync(() => seen.Count >= 20, cancellationToken);

        var turns = seen.ToLookup(text => text[0]);
        Assert.That(turns['a'], Is.EqualTo(Enumerable.Range(0, 10).Select(i => $"a{i}")));
        Assert.That(turns['b'], Is.EqualTo(Enumerable.Range(0, 10).Select(i => $"b{i}")));
    }

    [Test, CancelAfter(60_000)]
    public async Task In_a_lane_the_next_subscriber_goes_on_where_each_turn_stood(CancellationToken cancellationToken)
    {
        var first = new ConcurrentQueue<string>();
        var second = new Inbox();
        var subscription = Lanes(4) with { Concurrency = 64, TurnOf = message => message.Body.ReadText()[..1] };
        var running = await SubscribeAsync(
            (delivery, _) =>
            {
                var text = delivery.Message.Body.ReadText();
                if (text is "a3" or "b7")
                    return ValueTask.FromResult(Settlement.Return);
                first.Enqueue(text);
                return ValueTask.FromResult(Settlement.Done);
            },
            subscription
        );
        for (var i = 0; i < 20; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{(i % 2 == 0 ? 'a' : 'b')}{i / 2}"), cancellationToken);
        await Eventually.HoldsAsync(() => first.Count >= 10, cancellationToken); // a0 to a2, b0 to b6

        await running.DisposeAsync();
        await SubscribeAsync(second.HandleAsync, subscription);
        var rest = Texts(await second.NextAsync(10, cancellationToken)).ToLookup(text => text[0]);

        Assert.That(first, Has.Count.EqualTo(10));
        Assert.That(rest['a'], Is.EqualTo(Enumerable.Range(3, 7).Select(i => $"a{i}")));
        Assert.That(rest['b'], Is.EqualTo(Enumerable.Range(7, 3).Select(i => $"b{i}")));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_key_always_takes_the_same_lane_and_messages_without_one_share_a_lane(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, Lanes(4) with { Concurrency = 4 });

        for (var i = 0; i < 40; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = i % 2 == 0 ? "even" : null }, cancellationToken);
        var lanes = (await inbox.NextAsync(40, cancellationToken)).ToLookup(
            delivery => delivery.Message.Key,
            delivery => delivery.Source.Lane
        );

        Assert.That(lanes["even"].Distinct().Count(), Is.EqualTo(1));
        Assert.That(lanes[null].Distinct().Count(), Is.EqualTo(1));
        Assert.That(lanes["even"].Concat(lanes[null]), Is.All.InRange(0, 3));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_lane_that_stands_does_not_hold_up_the_others(CancellationToken cancellationToken)
    {
        var seen = new ConcurrentQueue<string>();
        var refuses = true;
        var inbox = new Inbox(delivery =>
        {
            if (delivery.Message.Key == "key-0" && Volatile.Read(ref refuses))
                return Settlement.Return;
            seen.Enqueue($"{delivery.Message.Key}:{delivery.Message.Body.ReadText()}");
            return Settlement.Done;
        });
        await SubscribeAsync(inbox.HandleAsync, Lanes(8));
        for (var i = 0; i < 200; i++)
            await Transport.PublishAsync(Message("orders.accepted", $"{i:000}") with { Key = $"key-{i % 20}" }, cancellationToken);

        await Eventually.HoldsAsync(() => seen.Count > 100, cancellationToken);
        Volatile.Write(ref refuses, false);
        await Eventually.HoldsAsync(() => seen.Count >= 200, cancellationToken);

        foreach (var key in seen.GroupBy(text => text.Split(':')[0]))
            Assert.That(key, Is.Ordered);
    }

    /// <summary>What an endpoint wants that keeps the order of keys.</summary>
    private static Subscription Lanes(int lanes) => Subscription("orders.#") with { Lanes = lanes, RetryDelays = [] };
}
