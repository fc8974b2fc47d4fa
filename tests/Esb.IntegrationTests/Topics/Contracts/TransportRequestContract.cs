using System.Collections.Concurrent;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>What every transport must do for those who ask and those who answer.</summary>
public abstract class TransportRequestContract(ITransportUnderTest underTest) : TopicTransportFixture(underTest)
{
    [Test, CancelAfter(60_000)]
    public async Task A_request_gets_its_reply_and_its_own_correlation_back(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            async (delivery, token) =>
            {
                var reply = delivery.Message.Reply(
                    MessageBody.FromText($"re: {delivery.Message.Body.ReadText()}"),
                    TimeProvider.System
                ) with
                {
                    ContentType = "text/plain",
                    Headers = MessageHeaders.Empty.With(EsbHeaders.Status, "201").With("x-a", "1"),
                };
                await delivery.Reply!(reply, token);
                return Settlement.Done;
            },
            Subscription("prices.get")
        );
        var request = Message("prices.get", "apples") with { CorrelationId = "caller-7" };

        var reply = await Transport.RequestAsync(request, TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That(
            (
                reply.Body.ReadText(),
                reply.ContentType,
                reply.CorrelationId,
                reply.ConversationId,
                reply.Headers[EsbHeaders.Status],
                reply.Headers["x-a"]
            ),
            Is.EqualTo(("re: apples", "text/plain", "caller-7", request.ConversationId, "201", "1"))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Reply_that_outlives_its_requester_is_handed_over_until_it_is_taken(CancellationToken cancellationToken)
    {
        var (taken, attempts) = (new ConcurrentQueue<(Guid Request, EsbMessage Reply)>(), 0);
        var other = await OtherHostAsync();
        await using var reader = await other.ReceiveRepliesAsync(
            (request, reply, _) =>
            {
                if (Interlocked.Increment(ref attempts) < 3)
                    throw new EsbException("ESB-STORE-AWAY", "The store is away.", FaultKind.Unavailable);
                taken.Enqueue((request, reply));
                return ValueTask.CompletedTask;
            },
            cancellationToken
        );
        await WaitAsync(() => reader.IsLive, cancellationToken);
        await SubscribeAsync(
            async (delivery, token) =>
            {
                var reply = delivery.Message.Reply(delivery.Message.Body, TimeProvider.System) with
                {
                    Headers = MessageHeaders.Empty.With(EsbHeaders.Status, "201").With("x-a", "1"),
                };
                await delivery.Reply!(reply, token);
                return Settlement.Done;
            },
            Subscription("prices.get")
        );
        var request = Message("prices.get", "apples");

        var result = await Transport.PublishRequestAsync(request, TimeSpan.FromSeconds(20), cancellationToken);
        await WaitAsync(() => !taken.IsEmpty, cancellationToken);
        await result.Settled.WaitAsync(cancellationToken);

        var (id, reply) = taken.Single();
        Assert.That(
            (id, reply.Body.ReadText(), reply.Headers[EsbHeaders.Status], reply.Headers["x-a"], attempts),
            Is.EqualTo((request.Id, "apples", "201", "1", 3))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Address_of_a_requester_is_a_text_that_another_host_understands(CancellationToken cancellationToken)
    {
        var taken = new ConcurrentQueue<Guid>();
        await using var reader = await Transport.ReceiveRepliesAsync(
            (request, _, _) =>
            {
                taken.Enqueue(request);
                return ValueTask.CompletedTask;
            },
            cancellationToken
        );
        await WaitAsync(() => reader.IsLive, cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "prices.get");
        var request = Message("prices.get");
        await Transport.PublishRequestAsync(request, TimeSpan.FromSeconds(20), cancellationToken);
        var address = (await inbox.NextAsync(cancellationToken)).ReplyAddress!();
        var other = (IReplyAddresses)await OtherHostAsync();

        var isAwaited = await other.ReplyAsync(address, request.Reply(MessageBody.Empty, TimeProvider.System), cancellationToken);

        await WaitAsync(() => !taken.IsEmpty, cancellationToken);
        Assert.That((isAwaited, taken.Single()), Is.EqualTo((true, request.Id)));
    }

    private static async Task WaitAsync(Func<bool> condition, CancellationToken cancellationToken)
    {
        while (!condition())
            await Task.Delay(20, cancellationToken);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_fault_is_a_reply_that_says_so(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            async (delivery, token) =>
            {
                var fault = delivery.Message.Reply(MessageBody.FromText("{}"), TimeProvider.System) with
                {
                    Headers = MessageHeaders.Empty.With(EsbHeaders.Fault, "ESB-TEST"),
                };
                await delivery.Reply!(fault, token);
                return Settlement.Done;
            },
            Subscription("prices.get")
        );

        var reply = await Transport.RequestAsync(Message("prices.get"), TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That(reply.Headers[EsbHeaders.Fault], Is.EqualTo("ESB-TEST"));
    }

    [Test, CancelAfter(60_000)]
    public async Task Requests_at_the_same_time_get_their_own_replies(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            async (delivery, token) =>
            {
                await delivery.Reply!(delivery.Message.Reply(delivery.Message.Body, TimeProvider.System), token);
                return Settlement.Done;
            },
            Subscription("prices.get") with
            {
                Concurrency = 8,
            }
        );

        var replies = await Task.WhenAll(
            Enumerable
                .Range(0, 100)
                .Select(i => Transport.RequestAsync(Message("prices.get", $"{i}"), TimeSpan.FromSeconds(20), cancellationToken))
        );

        Assert.That(replies.Select(reply => reply.Body.ReadText()), Is.EqualTo(Enumerable.Range(0, 100).Select(i => $"{i}")));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_request_knows_when_its_requester_stops_waiting(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "prices.get");
        var before = TimeProvider.System.GetUtcNow();

        Assert.ThrowsAsync<EsbException>(() =>
            Transport.RequestAsync(Message("prices.get"), TimeSpan.FromMilliseconds(1500), cancellationToken)
        );
        var request = await inbox.NextAsync(cancellationToken);
        await Transport.PublishAsync(Message("prices.get"), cancellationToken);
        var message = await inbox.NextAsync(cancellationToken);

        Assert.That(request.ExpiresAt, Is.InRange(before.AddMilliseconds(1400), before.AddMilliseconds(2600)));
        Assert.That(message.ExpiresAt, Is.Null);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_request_has_all_of_its_time_however_old_its_message_is(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            async (delivery, token) =>
            {
                if (delivery.ExpiresAt > TimeProvider.System.GetUtcNow())
                    await delivery.Reply!(delivery.Message.Reply(MessageBody.FromText("42"), TimeProvider.System), token);
                return Settlement.Done;
            },
            Subscription("prices.get")
        );
        var old = Message("prices.get") with { CreatedAt = TimeProvider.System.GetUtcNow().AddMinutes(-1) };

        var reply = await Transport.RequestAsync(old, TimeSpan.FromSeconds(5), cancellationToken);

        Assert.That(reply.Body.ReadText(), Is.EqualTo("42"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_request_without_a_reply_ends_at_its_time(CancellationToken cancellationToken)
    {
        await SubscribeAsync(new Inbox(), "prices.get");

        var failure = Assert.ThrowsAsync<EsbException>(() =>
            Transport.RequestAsync(Message("prices.get"), TimeSpan.FromMilliseconds(200), cancellationToken)
        );

        Assert.That((failure!.Code, failure.Kind), Is.EqualTo(("ESB-REQUEST-TIMEOUT", FaultKind.Timeout)));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_request_whose_time_is_over_is_not_worked_on_any_more(CancellationToken cancellationToken)
    {
        var began = new TaskCompletionSource();
        var end = new TaskCompletionSource();
        var handled = new ConcurrentQueue<string>();
        await SubscribeAsync(
            async (delivery, _) =>
            {
                handled.Enqueue(delivery.Message.Body.ReadText());
                if (delivery.Message.Body.ReadText() == "first")
                    began.TrySetResult();
                await end.Task.WaitAsync(cancellationToken);
                return Settlement.Done;
            },
            Subscription("prices.#") with
            {
                Prefetch = 1,
                Answers = true,
            }
        );
        await Transport.PublishAsync(Message("prices.x", "first"), cancellationToken);
        await began.Task.WaitAsync(cancellationToken);

        Assert.ThrowsAsync<EsbException>(() =>
            Transport.RequestAsync(Message("prices.get", "second"), TimeSpan.FromMilliseconds(100), cancellationToken)
        );
        await Transport.PublishAsync(Message("prices.x", "third"), cancellationToken);
        await Task.Delay(100, cancellationToken); // a broker's clock starts with the arrival, a moment later than the requester's
        end.SetResult();
        await Eventually.HoldsAsync(() => handled.Count >= 2, cancellationToken);

        Assert.That(handled, Is.EqualTo(new[] { "first", "third" }));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_request_whose_time_is_over_still_comes_to_those_who_do_not_answer(CancellationToken cancellationToken)
    {
        var end = new TaskCompletionSource();
        var (answering, others) = (new ConcurrentQueue<string>(), new ConcurrentQueue<string>());
        await SubscribeAsync(HandleSlowly(answering), Subscription("prices.#") with { Prefetch = 1, Answers = true });
        await SubscribeAsync(HandleSlowly(others), Subscription("prices.#") with { Prefetch = 1 });
        var letters = await ReadDeadLettersAsync();
        await Transport.PublishAsync(Message("prices.x", "first"), cancellationToken);
        await Eventually.HoldsAsync(() => answering.Count + others.Count == 2, cancellationToken);

        Assert.ThrowsAsync<EsbException>(() =>
            Transport.RequestAsync(Message("prices.get", "second"), TimeSpan.FromMilliseconds(100), cancellationToken)
        );
        await Transport.PublishAsync(Message("prices.x", "third"), cancellationToken);
        await Task.Delay(100, cancellationToken); // a broker's clock starts with the arrival, a moment later than the requester's
        end.SetResult();
        await Eventually.HoldsAsync(() => answering.Count >= 2 && others.Count >= 3, cancellationToken);

        Assert.That(answering, Is.EqualTo(new[] { "first", "third" }));
        Assert.That(others, Is.EquivalentTo(new[] { "first", "second", "third" }));
        Assert.That(letters.Reader.TryRead(out _), Is.False);

        DeliveryHandler HandleSlowly(ConcurrentQueue<string> handled) =>
            async (delivery, _) =>
            {
                handled.Enqueue(delivery.Message.Body.ReadText());
                await end.Task.WaitAsync(cancellationToken);
                return Settlement.Done;
            };
    }
}
