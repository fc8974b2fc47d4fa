using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using Esb.Topics.Publishing;

namespace Esb.Tests.Topics;

/// <summary>Messages of one key are confirmed in the order in which their callers came, whatever becomes of each.</summary>
public sealed class OrderedPublisherTests
{
    private ManualTime _time = null!;
    private ScriptedTransport _transport = null!;

    [SetUp]
    public void CreateTransport() => (_time, _transport) = (new ManualTime(), new ScriptedTransport());

    [TestCase(PublishOutcome.Unknown)]
    [TestCase(PublishOutcome.Refused)]
    [CancelAfter(30_000)]
    public async Task A_message_that_is_repeated_holds_back_its_key_and_no_other(
        PublishOutcome outcome,
        CancellationToken cancellationToken
    )
    {
        _transport.Outcomes.Enqueue(new PublishResult(outcome, "why", Task.CompletedTask));
        var publisher = new OrderedPublisher(_transport, _time);

        var sameKey = Enumerable.Range(1, 4).Select(i => publisher.PublishAsync(Message($"a{i}", "a"), cancellationToken)).ToList();
        await publisher.PublishAsync(Message("b1", "b"), cancellationToken);
        await publisher.PublishAsync(Message("none", key: null), cancellationToken);
        await publisher.PublishAsync(Message("invoice", "a", "invoices.sent"), cancellationToken);
        var before = Published();
        await PassAsync(sameKey[0], waiting: 3, cancellationToken);
        await Task.WhenAll(sameKey);

        Assert.That(before, Is.EqualTo(new[] { "a1", "b1", "none", "invoice" }));
        Assert.That(Published().Skip(4), Is.EqualTo(new[] { "a1", "a2", "a3", "a4" }));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_message_given_up_lets_the_next_of_its_key_go(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 5; i++)
            _transport.Outcomes.Enqueue(PublishResult.Unknown("why"));
        var publisher = new OrderedPublisher(_transport, _time);

        var first = publisher.PublishAsync(Message("a1", "a"), cancellationToken);
        var second = publisher.PublishAsync(Message("a2", "a"), cancellationToken);
        await PassAsync(first, waiting: 1, cancellationToken);

        Assert.That(async () => await first, Throws.TypeOf<EsbException>());
        Assert.That((await second).Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That(Published(), Is.EqualTo(new[] { "a1", "a1", "a1", "a1", "a1", "a2" }));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_request_holds_its_key_back_until_it_is_confirmed_and_not_until_its_reply(CancellationToken cancellationToken)
    {
        var confirmed = new TaskCompletionSource();
        (_transport.Confirming, _transport.Answering) = (confirmed.Task, new TaskCompletionSource().Task);
        var publisher = new OrderedPublisher(_transport, _time);

        var asking = publisher.SendRequestAsync(Message("a1", "a"), TimeSpan.FromSeconds(5), cancellationToken);
        var next = publisher.PublishAsync(Message("a2", "a"), cancellationToken);
        var before = Published();
        confirmed.SetResult();
        var reply = await asking;
        await next;

        Assert.That((before, Published()), Is.EqualTo((new[] { "a1" }, new[] { "a1", "a2" })));
        Assert.That(reply.IsCompleted, Is.False);
    }

    [Test, CancelAfter(30_000)]
    public async Task A_caller_that_goes_leaves_the_line(CancellationToken cancellationToken)
    {
        _transport.Outcomes.Enqueue(PublishResult.Refused("full"));
        var publisher = new OrderedPublisher(_transport, _time);
        using var leaving = new CancellationTokenSource();

        var first = publisher.PublishAsync(Message("a1", "a"), cancellationToken);
        var second = publisher.PublishAsync(Message("a2", "a"), leaving.Token);
        var third = publisher.PublishAsync(Message("a3", "a"), cancellationToken);
        await leaving.CancelAsync();
        Assert.That(async () => await second, Throws.InstanceOf<OperationCanceledException>());
        await PassAsync(first, waiting: 1, cancellationToken);
        await third;

        Assert.That(Published(), Is.EqualTo(new[] { "a1", "a1", "a3" }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Nobody_waits_longer_than_20_seconds_for_those_before(CancellationToken cancellationToken)
    {
        var turns = new KeyTurns(_time);
        var first = await turns.TakeAsync(Message("a1", "a"), cancellationToken);
        var second = turns.TakeAsync(Message("a2", "a"), cancellationToken).AsTask();

        _time.Advance(TimeSpan.FromSeconds(20));

        var failure = Assert.ThrowsAsync<EsbException>(() => second);
        Assert.That(
            (failure!.Code, failure.Message),
            Is.EqualTo(
                (
                    "ESB-TOPIC-UNAVAILABLE",
                    "orders.accepted takes no message right now: a message of the same key before it is not confirmed yet."
                )
            )
        );
        first.Dispose();
        Assert.That(turns.Lines, Is.Zero);
    }

    [Test, CancelAfter(10_000)]
    public async Task More_than_a_thousand_waiting_for_one_key_are_refused_at_once(CancellationToken cancellationToken)
    {
        var turns = new KeyTurns(_time);
        using var first = await turns.TakeAsync(Message("a", "a"), cancellationToken);
        var waiting = Enumerable
            .Range(0, KeyTurns.MaxWaiting)
            .Select(_ => turns.TakeAsync(Message("a", "a"), cancellationToken).AsTask())
            .ToList();

        Assert.That(
            async () => await turns.TakeAsync(Message("a", "a"), cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-TOPIC-UNAVAILABLE")
        );
        Assert.That(waiting.Any(turn => turn.IsCompleted), Is.False);
    }

    [Test, CancelAfter(30_000)]
    public async Task Under_many_callers_each_key_has_one_at_a_time_in_turn_and_nothing_stays_behind(CancellationToken cancellationToken)
    {
        var turns = new KeyTurns(TimeProvider.System);
        var under = new int[7];
        var served = Enumerable.Range(0, 7).Select(_ => new List<int>()).ToArray();

        await Task.WhenAll(Enumerable.Range(0, 7_000).Select(i => PublishAsync(i % 7, i)));

        Assert.That(served.Select(numbers => numbers.Count), Is.All.EqualTo(1_000));
        Assert.That(served, Is.All.Ordered);
        Assert.That(turns.Lines, Is.Zero);

        async Task PublishAsync(int key, int number)
        {
            using var turn = await turns.TakeAsync(Message("m", $"{key}"), cancellationToken);
            Assert.That(Interlocked.Increment(ref under[key]), Is.EqualTo(1));
            served[key].Add(number);
            await Task.Yield();
            Interlocked.Decrement(ref under[key]);
        }
    }

    private static EsbMessage Message(string body, string? key, string subject = "orders.accepted") =>
        Some.Message(body) with
        {
            Subject = subject,
            Key = key,
        };

    private List<string> Published() => [.. _transport.Published.Select(message => message.Body.ReadText())];

    // Lets the pauses of a message pass while others wait behind it.
    private async Task PassAsync(Task first, int waiting, CancellationToken cancellationToken)
    {
        while (!first.IsCompleted)
        {
            await Eventually.HoldsAsync(() => first.IsCompleted || _time.Waiting == waiting + 1, "a pause", cancellationToken);
            if (!first.IsCompleted)
                _time.Advance(TimeSpan.FromSeconds(2));
        }
    }
}
