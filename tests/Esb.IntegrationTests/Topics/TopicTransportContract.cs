using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics;

/// <summary>What every transport must do, whatever carries its messages.</summary>
public abstract class TopicTransportContract
{
    /// <summary>Topics that exist in every test.</summary>
    protected static readonly IReadOnlyDictionary<string, TopicConfig> Topics = new Dictionary<string, TopicConfig>
    {
        ["orders"] = new(),
        ["invoices"] = new(),
        ["prices"] = new() { Persistent = false },
    };

    /// <summary>The delay of the one rung that every subscription has.</summary>
    protected static readonly TimeSpan Rung = TimeSpan.FromMilliseconds(200);

    private readonly List<ITopicReader> _subscriptions = [];

    /// <summary>The transport under test.</summary>
    protected ITopicTransport Transport { get; private set; } = null!;

    private IEndpointQueues Queues => (IEndpointQueues)Transport;

    [SetUp]
    public async Task StartTransport()
    {
        Transport = CreateTransport();
        await Transport.StartAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task StopTransport()
    {
        foreach (var subscription in _subscriptions) await subscription.DisposeAsync();
        _subscriptions.Clear();
        await Transport.DisposeAsync();
        await CleanUpAsync();
    }

    /// <summary>What it keeps of messages that nobody wants.</summary>
    protected abstract IUnroutableMessages Unroutable { get; }

    /// <summary>Makes a transport that knows <see cref="Topics"/>.</summary>
    protected abstract ITopicTransport CreateTransport();

    /// <summary>A transport of another host with the same topics; where there can be none, this one's.</summary>
    protected virtual Task<ITopicTransport> OtherHostAsync() => Task.FromResult(Transport);

    /// <summary>Removes what a test left on a server.</summary>
    protected virtual Task CleanUpAsync() => Task.CompletedTask;

    /// <summary>Learns what a test subscribes, to remove it later.</summary>
    protected virtual void OnSubscribed(Subscription subscription)
    {
    }

    [Test, CancelAfter(20_000)]
    public async Task A_published_message_reaches_its_subscriber_as_it_was(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.accepted");
        byte[] body = [0x00, 0xFF, 0xFE, 0x3C, 0x0A, 0x80];
        var message = Message("orders.accepted", body) with
        {
            ContentType = "application/xml; charset=iso-8859-1",
            CorrelationId = "caller-7",
            Key = "customer-äöü",
            Headers = MessageHeaders.From([new("x-order", "4711"), new("x-name", "Grüße")]),
        };

        var result = await Transport.PublishAsync(message, cancellationToken);
        var delivered = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.Multiple(() =>
        {
            Assert.That(result.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
            Assert.That(delivered.Id, Is.EqualTo(message.Id));
            Assert.That(delivered.Body.Bytes.ToArray(), Is.EqualTo(body));
            Assert.That(delivered.Subject, Is.EqualTo("orders.accepted"));
            Assert.That(delivered.ContentType, Is.EqualTo(message.ContentType));
            Assert.That(delivered.CorrelationId, Is.EqualTo("caller-7"));
            Assert.That(delivered.ConversationId, Is.EqualTo(message.ConversationId));
            Assert.That(delivered.Key, Is.EqualTo("customer-äöü"));
            Assert.That(delivered.Attempt, Is.Zero);
            Assert.That(delivered.CreatedAt, Is.EqualTo(message.CreatedAt).Within(TimeSpan.FromSeconds(1)));
            Assert.That(delivered.Headers, Is.EquivalentTo(message.Headers));
        });
    }

    [TestCase("orders.*", "orders.accepted", true)]
    [TestCase("orders.*", "orders.accepted.late", false)]
    [TestCase("orders.#", "orders.accepted.late", true)]
    [TestCase("orders.#", "orders", true)]
    [TestCase("orders.*.late", "orders.accepted.late", true)]
    [TestCase("orders.accepted", "orders.refused", false)]
    [CancelAfter(20_000)]
    public async Task A_pattern_takes_the_subjects_it_matches(string pattern, string subject, bool matches, CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var all = new Inbox();
        await SubscribeAsync(inbox, pattern);
        await SubscribeAsync(all, "orders.#");

        await Transport.PublishAsync(Message(subject), cancellationToken);
        await all.NextAsync(cancellationToken);

        if (matches) Assert.That((await inbox.NextAsync(cancellationToken)).Message.Subject, Is.EqualTo(subject));
        else Assert.That(inbox.TryNext(out _), Is.False);
    }

    [Test, CancelAfter(20_000)]
    public async Task Every_subscriber_gets_a_message_once_however_many_of_its_patterns_match(CancellationToken cancellationToken)
    {
        var left = new Inbox();
        var right = new Inbox();
        await SubscribeAsync(left, "orders.accepted", "orders.*", "orders.#");
        await SubscribeAsync(right, "orders.#");

        await Transport.PublishAsync(Message("orders.accepted", "first"), cancellationToken);
        await Transport.PublishAsync(Message("orders.accepted", "second"), cancellationToken);
        var atLeft = await left.NextAsync(2, cancellationToken);
        var atRight = await right.NextAsync(2, cancellationToken);

        Assert.That(Texts(atLeft), Is.EqualTo(new[] { "first", "second" }));
        Assert.That(Texts(atRight), Is.EqualTo(new[] { "first", "second" }));
    }

    [Test, CancelAfter(20_000)]
    public async Task Topics_are_apart(CancellationToken cancellationToken)
    {
        var orders = new Inbox();
        var prices = new Inbox();
        await SubscribeAsync(orders, "orders.#");
        await SubscribeAsync(prices, "prices.#");

        await Transport.PublishAsync(Message("prices.changed"), cancellationToken);
        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        Assert.That((await orders.NextAsync(cancellationToken)).Message.Subject, Is.EqualTo("orders.accepted"));
        Assert.That((await prices.NextAsync(cancellationToken)).Message.Subject, Is.EqualTo("prices.changed"));
    }

    [Test, CancelAfter(20_000)]
    public async Task As_many_deliveries_are_worked_on_at_once_as_the_subscription_says(CancellationToken cancellationToken)
    {
        var atOnce = 0;
        var allTogether = new TaskCompletionSource();
        await SubscribeAsync(
            async (_, _) =>
            {
                if (Interlocked.Increment(ref atOnce) == 4) allTogether.TrySetResult();
                await allTogether.Task.WaitAsync(cancellationToken);
                return Settlement.Done;
            },
            Subscription("orders.#") with { Concurrency = 4 });

        for (var i = 0; i < 4; i++) await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        await allTogether.Task.WaitAsync(cancellationToken);
        Assert.That(atOnce, Is.EqualTo(4));
    }

    [Test, CancelAfter(30_000)]
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

        for (var i = 0; i < 200; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);
        await Eventually.HoldsAsync(() => seen.Count >= 200, cancellationToken);

        Assert.That(seen, Is.EqualTo(Enumerable.Range(0, 200).Select(i => $"{i}")));
        Assert.That(most, Is.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task In_order_a_returned_message_is_not_overtaken(CancellationToken cancellationToken)
    {
        var seen = new ConcurrentQueue<string>();
        var refusals = 3;
        var inbox = new Inbox(delivery =>
        {
            var text = delivery.Message.Body.ReadText();
            if (text == "5" && Interlocked.Decrement(ref refusals) >= 0) return Settlement.Return;
            seen.Enqueue(text);
            return Settlement.Done;
        });
        await SubscribeAsync(inbox.HandleAsync, Subscription("orders.#") with { SingleActive = true, Prefetch = 50 });

        for (var i = 0; i < 20; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);
        await Eventually.HoldsAsync(() => seen.Count >= 20, cancellationToken);

        Assert.That(seen, Is.EqualTo(Enumerable.Range(0, 20).Select(i => $"{i}")));
    }

    [Test, CancelAfter(30_000)]
    public async Task In_order_the_next_subscriber_goes_on_where_the_last_one_stood(CancellationToken cancellationToken)
    {
        var stands = new TaskCompletionSource();
        var first = new Inbox(delivery =>
        {
            if (delivery.Message.Body.ReadText() != "3") return Settlement.Done;
            stands.TrySetResult();
            return Settlement.Return;
        });
        var second = new Inbox();
        var subscription = Subscription("orders.#") with { SingleActive = true, Prefetch = 50 };
        var running = await SubscribeAsync(first.HandleAsync, subscription);
        for (var i = 0; i < 20; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = "one" }, cancellationToken);
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
            if (busy.AddOrUpdate(delivery.Source.Lane, 1, (_, count) => count + 1) > 1) Interlocked.Increment(ref overlapping);
            most = Math.Max(most, Interlocked.Increment(ref atOnce));
            await Task.Delay(2, cancellationToken);
            seen.Enqueue((delivery.Message.Key!, int.Parse(delivery.Message.Body.ReadText())));
            Interlocked.Decrement(ref atOnce);
            busy.AddOrUpdate(delivery.Source.Lane, 0, (_, count) => count - 1);
            return Settlement.Done;
        };
        await SubscribeAsync(handler, Lanes(8) with { Concurrency = 3 });

        for (var i = 0; i < 300; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = $"key-{i % 30}" }, cancellationToken);
        await Eventually.HoldsAsync(() => seen.Count >= 300, cancellationToken);

        foreach (var key in seen.GroupBy(delivery => delivery.Key)) Assert.That(key.Select(delivery => delivery.Number), Is.Ordered, key.Key);
        Assert.That((most, overlapping), Is.EqualTo((3, 0)));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_key_always_takes_the_same_lane_and_messages_without_one_share_a_lane(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, Lanes(4) with { Concurrency = 4 });

        for (var i = 0; i < 40; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i}") with { Key = i % 2 == 0 ? "even" : null }, cancellationToken);
        var lanes = (await inbox.NextAsync(40, cancellationToken)).ToLookup(delivery => delivery.Message.Key, delivery => delivery.Source.Lane);

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
            if (delivery.Message.Key == "key-0" && Volatile.Read(ref refuses)) return Settlement.Return;
            seen.Enqueue($"{delivery.Message.Key}:{delivery.Message.Body.ReadText()}");
            return Settlement.Done;
        });
        await SubscribeAsync(inbox.HandleAsync, Lanes(8));
        for (var i = 0; i < 200; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i:000}") with { Key = $"key-{i % 20}" }, cancellationToken);

        await Eventually.HoldsAsync(() => seen.Count > 100, cancellationToken);
        Volatile.Write(ref refuses, false);
        await Eventually.HoldsAsync(() => seen.Count >= 200, cancellationToken);

        foreach (var key in seen.GroupBy(text => text.Split(':')[0])) Assert.That(key, Is.Ordered);
    }

    [Test, CancelAfter(20_000)]
    public async Task What_is_sent_to_one_endpoint_reaches_no_other_and_says_how_it_came([Values(null, 4)] int? lanes, CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var other = new Inbox();
        var subscription = Subscription("orders.#") with { Lanes = lanes, RetryDelays = lanes is null ? [Rung] : [] };
        await SubscribeAsync(inbox.HandleAsync, subscription);
        await SubscribeAsync(other, "orders.#");
        var message = Message("orders.accepted") with { Key = "k", Attempt = 3, Party = "shop", Headers = MessageHeaders.Empty.With("x-a", "1") };

        var replayed = await Queues.SendAsync(subscription.Endpoint, message, DeliveryKind.Replay, cancellationToken);
        var replay = await inbox.NextAsync(cancellationToken);
        await Queues.SendAsync(subscription.Endpoint, message, DeliveryKind.Release, cancellationToken);
        var release = await inbox.NextAsync(cancellationToken);
        await Transport.PublishAsync(Message("orders.accepted", "published"), cancellationToken);
        var published = await inbox.NextAsync(cancellationToken);
        var first = await other.NextAsync(cancellationToken);

        Assert.That(replayed.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That((replay.Kind, release.Kind, published.Kind), Is.EqualTo((DeliveryKind.Replay, DeliveryKind.Release, DeliveryKind.Published)));
        Assert.That(
            (replay.Message.Id, replay.Message.Subject, replay.Message.Key, replay.Message.Attempt, replay.Message.Party, replay.Message.Headers["x-a"], replay.Message.Body.ReadText()),
            Is.EqualTo((message.Id, "orders.accepted", "k", 3, "shop", "1", "<order/>")));
        Assert.That(first.Message.Body.ReadText(), Is.EqualTo("published"));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_replay_that_is_tried_again_later_still_is_one(CancellationToken cancellationToken)
    {
        var inbox = new Inbox(delivery => delivery.Message.Attempt == 0 ? new Settlement.Later(Rung, 1) : Settlement.Done);
        var subscription = Subscription("orders.#");
        await SubscribeAsync(inbox.HandleAsync, subscription);

        await Queues.SendAsync(subscription.Endpoint, Message("orders.accepted"), DeliveryKind.Replay, cancellationToken);
        var deliveries = await inbox.NextAsync(2, cancellationToken);

        Assert.That(deliveries.Select(delivery => (delivery.Kind, delivery.Message.Attempt)), Is.EqualTo(new[] { (DeliveryKind.Replay, 0), (DeliveryKind.Replay, 1) }));
    }

    [Test, CancelAfter(20_000)]
    public async Task An_endpoint_without_a_queue_gets_nothing(CancellationToken cancellationToken)
    {
        var result = await Queues.SendAsync("nobody", Message("orders.accepted"), DeliveryKind.Replay, cancellationToken);

        Assert.That((result.Outcome, result.Reason), Is.EqualTo((PublishOutcome.Refused, "no such queue")));
    }

    [TestCase(false, null), TestCase(true, null), TestCase(false, 4)]
    [CancelAfter(60_000)]
    public async Task A_subscription_goes_on_with_other_numbers_without_losing_or_doubling_or_overtaking(bool isSingleActive, int? lanes, CancellationToken cancellationToken)
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
            subscription);
        var publishing = PublishManyAsync(600, keys: 12, cancellationToken);

        for (var round = 0; round < 4; round++)
        {
            await Eventually.HoldsAsync(() => seen.Count >= 100 * (round + 1), cancellationToken);
            await running.TuneAsync(isSingleActive ? 1 : 1 + round, 8 << round, isPaused: round % 2 == 1, cancellationToken);
            if (round % 2 == 1) await running.TuneAsync(1, 32, isPaused: false, cancellationToken);
        }

        await publishing;
        await Eventually.HoldsAsync(() => seen.Count >= 600, cancellationToken);
        Assert.That(seen.Select(delivery => delivery.Number).Order(), Is.EqualTo(Enumerable.Range(0, 600)));
        if (isSingleActive) Assert.That(seen.Select(delivery => delivery.Number), Is.Ordered);
        if (lanes is null) return;
        foreach (var key in seen.GroupBy(delivery => delivery.Key)) Assert.That(key.Select(delivery => delivery.Number), Is.Ordered, key.Key);
    }

    [Test, CancelAfter(30_000)]
    public async Task A_paused_subscription_gets_nothing_and_says_that_it_is_meant([Values(null, 4)] int? lanes, CancellationToken cancellationToken)
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

    [Test, CancelAfter(20_000)]
    public async Task A_request_knows_when_its_requester_stops_waiting(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "prices.get");
        var before = TimeProvider.System.GetUtcNow();

        Assert.ThrowsAsync<EsbException>(() => Transport.RequestAsync(Message("prices.get"), TimeSpan.FromMilliseconds(1500), cancellationToken));
        var request = await inbox.NextAsync(cancellationToken);
        await Transport.PublishAsync(Message("prices.get"), cancellationToken);
        var message = await inbox.NextAsync(cancellationToken);

        Assert.That(request.ExpiresAt, Is.InRange(before.AddMilliseconds(1400), before.AddMilliseconds(2600)));
        Assert.That(message.ExpiresAt, Is.Null);
    }

    [Test, CancelAfter(20_000)]
    public async Task Later_comes_again_after_its_delay_with_the_attempts_counted_and_all_else_as_it_was(CancellationToken cancellationToken)
    {
        var inbox = new Inbox(delivery => delivery.Message.Attempt < 2 ? new Settlement.Later(Rung, delivery.Message.Attempt + 1) : Settlement.Done);
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
            Is.EqualTo((message.Id, "orders.accepted", "k", "c", message.ConversationId, "1", "<order/>")));
    }

    [Test, CancelAfter(20_000)]
    public async Task History_of_the_attempts_travels_with_the_message_and_ends_in_the_dead_letter(CancellationToken cancellationToken)
    {
        var at = new DateTimeOffset(2026, 3, 4, 5, 6, 7, 89, TimeSpan.Zero);
        FailedAttempt Failure(int number) => new(at.AddSeconds(number), $"ESB-{number}", "It does not work: ä\0\u0001.");
        var inbox = new Inbox(delivery => delivery.Message.Attempt < 2
            ? new Settlement.Later(Rung, delivery.Message.Attempt + 1) { Failures = [.. delivery.Failures, Failure(delivery.Message.Attempt)] }
            : new Settlement.Divert(Letter(delivery.Message) with { Reason = "The last one, whole.", Failures = [.. delivery.Failures, Failure(2) with { Reason = "The last one, whole." }] }));
        await SubscribeAsync(inbox, "orders.#");
        var letters = await ReadDeadLettersAsync();

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        var deliveries = await inbox.NextAsync(3, cancellationToken);
        var letter = await letters.Reader.ReadAsync(cancellationToken);

        Assert.That(deliveries.Select(delivery => delivery.Failures), Is.EqualTo(new FailedAttempt[][] { [], [Failure(0)], [Failure(0), Failure(1)] }));
        Assert.That(letter.Failures, Is.EqualTo(new[] { Failure(0), Failure(1), Failure(2) with { Reason = "The last one, whole." } }));
    }

    [Test, CancelAfter(20_000)]
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

    [Test, CancelAfter(20_000)]
    public async Task A_diverted_message_becomes_a_dead_letter_with_all_that_is_known(CancellationToken cancellationToken)
    {
        var at = new DateTimeOffset(2026, 3, 4, 5, 6, 7, 89, TimeSpan.Zero);
        var inbox = new Inbox(delivery => new Settlement.Divert(
            new DeadLetter(delivery.Message, "the-endpoint", "ESB-TEST", "It does not work: ä.", "System.Exception", 3, at, at.AddSeconds(9))));
        await SubscribeAsync(inbox, "orders.#");
        var letters = await ReadDeadLettersAsync();
        var message = Message("orders.accepted", [1, 2, 255]) with { Key = "k", Headers = MessageHeaders.Empty.With("x-a", "1") };

        await Transport.PublishAsync(message, cancellationToken);
        var letter = await letters.Reader.ReadAsync(cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(
                (letter.Endpoint, letter.Code, letter.Reason, letter.ExceptionType, letter.Attempts, letter.FirstAttempt, letter.LastAttempt),
                Is.EqualTo(("the-endpoint", "ESB-TEST", "It does not work: ä.", "System.Exception", 3, at, at.AddSeconds(9))));
            Assert.That((letter.Message.Id, letter.Message.Subject, letter.Message.Key, letter.Message.Headers["x-a"]), Is.EqualTo((message.Id, "orders.accepted", "k", "1")));
            Assert.That(letter.Message.Body.Bytes.ToArray(), Is.EqualTo(new byte[] { 1, 2, 255 }));
        });
    }

    [Test, CancelAfter(20_000)]
    public async Task A_dead_letter_that_is_not_taken_comes_again(CancellationToken cancellationToken)
    {
        await SubscribeAsync(new Inbox(delivery => new Settlement.Divert(Letter(delivery.Message))), "orders.#");
        var tries = 0;
        var taken = new TaskCompletionSource<DeadLetter>();
        await using var reading = await Transport.ReadDeadLettersAsync(
            (letter, _) =>
            {
                if (++tries < 2) throw new IOException("The store is away.");
                taken.TrySetResult(letter);
                return ValueTask.CompletedTask;
            },
            cancellationToken);
        var message = Message("orders.accepted");

        await Transport.PublishAsync(message, cancellationToken);

        Assert.That((await taken.Task.WaitAsync(cancellationToken)).Message.Id, Is.EqualTo(message.Id));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_reader_whose_store_fails_while_it_stops_ends_all_the_same(CancellationToken cancellationToken)
    {
        await SubscribeAsync(new Inbox(delivery => new Settlement.Divert(Letter(delivery.Message))), "orders.#");
        var taking = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var reading = await Transport.ReadDeadLettersAsync(
            async (_, stopping) =>
            {
                taking.TrySetResult();
                await Task.Delay(Timeout.Infinite, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                throw new IOException("The store is away.");
            },
            cancellationToken);

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        await taking.Task.WaitAsync(cancellationToken);
        var ending = reading.DisposeAsync().AsTask();
        await ending.WaitAsync(cancellationToken);

        Assert.That(ending.IsCompletedSuccessfully, Is.True);
    }

    [Test, CancelAfter(20_000)]
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

    [Test, CancelAfter(20_000)]
    public async Task A_handler_that_throws_loses_nothing(CancellationToken cancellationToken)
    {
        var tries = 0;
        var inbox = new Inbox(_ => Interlocked.Increment(ref tries) == 1 ? throw new InvalidOperationException("A bug.") : Settlement.Done);
        await SubscribeAsync(inbox, "orders.#");

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);

        Assert.That(await inbox.NextAsync(2, cancellationToken), Has.Count.EqualTo(2));
    }

    [Test, CancelAfter(20_000)]
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
            subscription);
        for (var i = 0; i < 3; i++) await Transport.PublishAsync(Message("orders.accepted", $"{i}"), cancellationToken);
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

    [Test, CancelAfter(20_000)]
    public async Task A_request_gets_its_reply_and_its_own_correlation_back(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            async (delivery, token) =>
            {
                var reply = delivery.Message.Reply(MessageBody.FromText($"re: {delivery.Message.Body.ReadText()}"), TimeProvider.System) with
                {
                    ContentType = "text/plain",
                    Headers = MessageHeaders.Empty.With(EsbHeaders.Status, "201").With("x-a", "1"),
                };
                await delivery.Reply!(reply, token);
                return Settlement.Done;
            },
            Subscription("prices.get"));
        var request = Message("prices.get", "apples") with { CorrelationId = "caller-7" };

        var reply = await Transport.RequestAsync(request, TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That(
            (reply.Body.ReadText(), reply.ContentType, reply.CorrelationId, reply.ConversationId, reply.Headers[EsbHeaders.Status], reply.Headers["x-a"]),
            Is.EqualTo(("re: apples", "text/plain", "caller-7", request.ConversationId, "201", "1")));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_fault_is_a_reply_that_says_so(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            async (delivery, token) =>
            {
                var fault = delivery.Message.Reply(MessageBody.FromText("{}"), TimeProvider.System) with { Headers = MessageHeaders.Empty.With(EsbHeaders.Fault, "ESB-TEST") };
                await delivery.Reply!(fault, token);
                return Settlement.Done;
            },
            Subscription("prices.get"));

        var reply = await Transport.RequestAsync(Message("prices.get"), TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That(reply.Headers[EsbHeaders.Fault], Is.EqualTo("ESB-TEST"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Requests_at_the_same_time_get_their_own_replies(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            async (delivery, token) =>
            {
                await delivery.Reply!(delivery.Message.Reply(delivery.Message.Body, TimeProvider.System), token);
                return Settlement.Done;
            },
            Subscription("prices.get") with { Concurrency = 8 });

        var replies = await Task.WhenAll(Enumerable.Range(0, 100).Select(i => Transport.RequestAsync(Message("prices.get", $"{i}"), TimeSpan.FromSeconds(20), cancellationToken)));

        Assert.That(replies.Select(reply => reply.Body.ReadText()), Is.EqualTo(Enumerable.Range(0, 100).Select(i => $"{i}")));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_request_without_a_reply_ends_at_its_time(CancellationToken cancellationToken)
    {
        await SubscribeAsync(new Inbox(), "prices.get");

        var failure = Assert.ThrowsAsync<EsbException>(() => Transport.RequestAsync(Message("prices.get"), TimeSpan.FromMilliseconds(200), cancellationToken));

        Assert.That((failure!.Code, failure.Kind), Is.EqualTo(("ESB-REQUEST-TIMEOUT", FaultKind.Timeout)));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_request_whose_time_is_over_is_not_worked_on_any_more(CancellationToken cancellationToken)
    {
        var began = new TaskCompletionSource();
        var end = new TaskCompletionSource();
        var handled = new ConcurrentQueue<string>();
        await SubscribeAsync(
            async (delivery, _) =>
            {
                handled.Enqueue(delivery.Message.Body.ReadText());
                if (delivery.Message.Body.ReadText() == "first") began.TrySetResult();
                await end.Task.WaitAsync(cancellationToken);
                return Settlement.Done;
            },
            Subscription("prices.#") with { Prefetch = 1 });
        await Transport.PublishAsync(Message("prices.x", "first"), cancellationToken);
        await began.Task.WaitAsync(cancellationToken);

        Assert.ThrowsAsync<EsbException>(() => Transport.RequestAsync(Message("prices.get", "second"), TimeSpan.FromMilliseconds(100), cancellationToken));
        await Transport.PublishAsync(Message("prices.x", "third"), cancellationToken);
        await Task.Delay(100, cancellationToken); // a broker's clock starts with the arrival, a moment later than the requester's
        end.SetResult();
        await Eventually.HoldsAsync(() => handled.Count >= 2, cancellationToken);

        Assert.That(handled, Is.EqualTo(new[] { "first", "third" }));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_message_that_nobody_wants_is_confirmed_and_settled(CancellationToken cancellationToken)
    {
        var result = await Transport.PublishAsync(Message("invoices.sent"), cancellationToken);

        Assert.That((result.Outcome, result.Settled.IsCompletedSuccessfully), Is.EqualTo((PublishOutcome.Confirmed, true)));
    }

    [Test, CancelAfter(20_000)]
    [Property("Case", "T-DEL-3")]
    public async Task What_nobody_wants_is_kept_and_replayed_in_its_order_once_somebody_does(CancellationToken cancellationToken)
    {
        var messages = Enumerable.Range(0, 5)
            .Select(i => Message("orders.early", $"{i}") with { Key = "k", ContentType = "text/plain", Headers = MessageHeaders.Empty.With("x-a", $"{i}") })
            .ToList();
        foreach (var message in messages) await Transport.PublishAsync(message, cancellationToken);
        await Transport.PublishAsync(Message("invoices.early"), cancellationToken);
        var before = await Unroutable.SummarizeAsync(100, cancellationToken);
        await UnroutableAsync(6, cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        var replay = await Unroutable.ReplayAsync(subject: null, limit: 100, cancellationToken);
        var delivered = (await inbox.NextAsync(5, cancellationToken)).ConvertAll(delivery => delivery.Message);
        await UnroutableAsync(1, cancellationToken);
        var after = await Unroutable.SummarizeAsync(100, cancellationToken);

        Assert.That((before.Count, before.Peeked, string.Join(' ', before.Subjects.Select(subject => $"{subject.Subject}={subject.Count}"))), Is.EqualTo((6, 6, "orders.early=5 invoices.early=1")));
        Assert.That(before.Subjects[0].Oldest, Is.EqualTo(messages[0].CreatedAt).Within(TimeSpan.FromSeconds(1)));
        Assert.That((replay.Replayed, string.Join(' ', replay.Unroutable)), Is.EqualTo((5, "invoices.early")));
        Assert.That(
            delivered.Select(message => (message.Id, message.Key, message.ContentType, message.Headers["x-a"])),
            Is.EqualTo(messages.Select(message => (message.Id, message.Key, message.ContentType, message.Headers["x-a"]))));
        Assert.That(delivered.Select(message => message.Headers.Count), Is.All.EqualTo(1));
        Assert.That((after.Count, after.Subjects.Single().Subject), Is.EqualTo((1, "invoices.early")));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_replay_takes_the_subject_and_the_number_it_is_told_and_leaves_the_rest(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 3; i++) await Transport.PublishAsync(Message("orders.a", $"a{i}"), cancellationToken);
        for (var i = 0; i < 3; i++) await Transport.PublishAsync(Message("orders.b", $"b{i}"), cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        var replay = await Unroutable.ReplayAsync("orders.b", limit: 2, cancellationToken);
        await UnroutableAsync(4, cancellationToken);
        var left = await Unroutable.SummarizeAsync(peek: 3, cancellationToken);
        await UnroutableAsync(4, cancellationToken);
        var rest = await Unroutable.ReplayAsync(subject: null, limit: 100, cancellationToken);

        Assert.That((replay.Replayed, left.Count, left.Peeked, rest.Replayed), Is.EqualTo((2, 4, 3, 4)));
        Assert.That(Texts(await inbox.NextAsync(6, cancellationToken)), Is.EqualTo(new[] { "b0", "b1", "a0", "a1", "a2", "b2" }));
    }

    [Test, CancelAfter(20_000)]
    public async Task What_still_nobody_wants_stays_however_often_it_is_replayed(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 3; i++) await Transport.PublishAsync(Message("orders.never"), cancellationToken);

        for (var i = 0; i < 3; i++)
        {
            var replay = await Unroutable.ReplayAsync(subject: null, limit: 100, cancellationToken);
            await UnroutableAsync(3, cancellationToken);
            Assert.That((replay.Replayed, replay.Unroutable.Single()), Is.EqualTo((0, "orders.never")));
        }
    }

    [Test, CancelAfter(20_000)]
    [Property("Case", "HDR-01"), Property("Case", "HDR-02"), Property("Case", "HDR-03")]
    public async Task Reserved_headers_do_not_travel(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var hijacked = new Inbox();
        await SubscribeAsync(inbox, "orders.accepted");
        await SubscribeAsync(hijacked, "orders.stolen");
        var headers = MessageHeaders.From(
        [
            new("CC", "orders.stolen"), new("bcc", "orders.stolen"), new("x-death", "1"), new("ESB-Attempt", "9"), new("esb-fault", "F"),
            new("MT-Fault-Address", "queue:other"), new("x-delivery-count", "3"), new("x-kept", "yes"),
        ]);

        await Transport.PublishAsync(Message("orders.accepted") with { Headers = headers }, cancellationToken);
        var delivered = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.That(delivered.Headers, Is.EquivalentTo(new[] { KeyValuePair.Create("x-kept", "yes") }));
        Assert.That(delivered.Attempt, Is.Zero);
        Assert.That(hijacked.TryNext(out _), Is.False);
    }

    [Test, CancelAfter(20_000), Property("Case", "XPT-11")]
    public async Task Hops_travel_with_a_message_also_to_its_next_attempt(CancellationToken cancellationToken)
    {
        var inbox = new Inbox(delivery => delivery.Message.Attempt == 0 ? new Settlement.Later(Rung, 1) : Settlement.Done);
        await SubscribeAsync(inbox, "orders.#");

        await Transport.PublishAsync(MessageHops.Set(Message("orders.accepted"), hops: 7), cancellationToken);
        var deliveries = await inbox.NextAsync(2, cancellationToken);

        Assert.That(deliveries.Select(delivery => MessageHops.Of(delivery.Message)), Is.EqualTo(new[] { 7, 7 }));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_big_body_arrives_whole(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        var body = new byte[4 * 1024 * 1024];
        new Random(7).NextBytes(body);

        await Transport.PublishAsync(Message("orders.accepted", body), cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.Bytes.Span.SequenceEqual(body), Is.True);
    }

    [Test, CancelAfter(20_000)]
    public async Task An_empty_body_arrives_empty(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        await Transport.PublishAsync(Message("orders.accepted", ""), cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.Bytes.Length, Is.Zero);
    }

    [Test, CancelAfter(20_000)]
    public async Task A_delivery_knows_the_trace_of_its_publisher(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");
        using var activity = new Activity("publisher").SetIdFormat(ActivityIdFormat.W3C).Start();

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        var parent = (await inbox.NextAsync(cancellationToken)).Parent;

        Assert.That((parent.TraceId, parent.SpanId), Is.EqualTo((activity.TraceId, activity.SpanId)));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_cancelled_token_stops_a_publish_before_it_begins(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        Assert.ThrowsAsync<OperationCanceledException>(async () => await Transport.PublishAsync(Message("orders.accepted", "never"), new CancellationToken(canceled: true)));
        await Transport.PublishAsync(Message("orders.accepted", "now"), cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Body.ReadText(), Is.EqualTo("now"));
    }

    [Test, CancelAfter(20_000)]
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
            if (!only) await inbox.NextAsync(cancellationToken);
        }

        Assert.That(inbox.TryNext(out _), Is.False);
    }

    /// <summary>A message to be published.</summary>
    protected static EsbMessage Message(string subject, string body = "<order/>") => Message(subject, Encoding.UTF8.GetBytes(body));

    /// <summary>A message to be published.</summary>
    protected static EsbMessage Message(string subject, byte[] body) =>
        EsbMessage.Create(MessageBody.FromBytes(body), TimeProvider.System) with { Subject = subject };

    /// <summary>A dead letter of a message.</summary>
    protected static DeadLetter Letter(EsbMessage message, string reason = "It does not work.") =>
        new(message, "the-endpoint", "ESB-TEST", reason, null, 1, DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch);

    /// <summary>What an endpoint of its own, named at random, wants.</summary>
    protected static Subscription Subscription(params string[] patterns) =>
        new($"endpoint-{Guid.NewGuid():N}"[..20], [.. patterns.Select(pattern => SubjectPattern.Parse(pattern)!)], 1, 32, SingleActive: false, new QueueConfig(), [Rung]);

    /// <summary>What an endpoint wants that keeps the order of keys.</summary>
    protected static Subscription Lanes(int lanes) => Subscription("orders.#") with { Lanes = lanes, RetryDelays = [] };

    /// <summary>Publishes numbers, each under one of some keys.</summary>
    protected async Task PublishManyAsync(int count, int keys, CancellationToken cancellationToken, int first = 0)
    {
        for (var i = first; i < first + count; i++)
        {
            var message = Message("orders.accepted", $"{i}") with { Key = $"key-{i % keys}" };
            while ((await Transport.PublishAsync(message, cancellationToken)).Outcome != PublishOutcome.Confirmed) await Task.Delay(20, cancellationToken);
        }
    }

    /// <summary>Subscribes until the test ends.</summary>
    private protected Task<ITopicSubscription> SubscribeAsync(Inbox inbox, params string[] patterns) => SubscribeAsync(inbox.HandleAsync, Subscription(patterns));

    /// <summary>Subscribes until the test ends.</summary>
    protected async Task<ITopicSubscription> SubscribeAsync(DeliveryHandler handler, Subscription subscription, ITopicTransport? host = null)
    {
        OnSubscribed(subscription);
        var running = await (host ?? Transport).SubscribeAsync(subscription, handler, CancellationToken.None);
        _subscriptions.Add(running);
        Assert.That(running.IsLive, Is.True);
        return running;
    }

    /// <summary>Takes all dead letters until the test ends.</summary>
    protected async Task<System.Threading.Channels.Channel<DeadLetter>> ReadDeadLettersAsync()
    {
        var letters = System.Threading.Channels.Channel.CreateUnbounded<DeadLetter>();
        _subscriptions.Add(await Transport.ReadDeadLettersAsync((letter, token) => letters.Writer.WriteAsync(letter, token), CancellationToken.None));
        return letters;
    }

    // A broker takes a moment to put back what was looked at.
    private Task UnroutableAsync(int count, CancellationToken cancellationToken) =>
        Eventually.HoldsAsync(async () => (await Unroutable.SummarizeAsync(0, cancellationToken)).Count == count, cancellationToken);

    private static IEnumerable<string> Texts(IEnumerable<TopicDelivery> deliveries) => deliveries.Select(delivery => delivery.Message.Body.ReadText());
}
