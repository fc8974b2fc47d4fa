using Esb.Core.Messages;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>What every transport must do with a message that nobody wants.</summary>
public abstract class TransportUnroutableContract(ITransportUnderTest underTest) : TopicTransportFixture(underTest)
{
    [Test, CancelAfter(60_000)]
    public async Task A_message_that_nobody_wants_is_confirmed_and_settled(CancellationToken cancellationToken)
    {
        var result = await Transport.PublishAsync(Message("invoices.sent"), cancellationToken);

        Assert.That((result.Outcome, result.Settled.IsCompletedSuccessfully), Is.EqualTo((PublishOutcome.Confirmed, true)));
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "T-DEL-3")]
    public async Task What_nobody_wants_is_kept_and_replayed_in_its_order_once_somebody_does(CancellationToken cancellationToken)
    {
        var messages = Enumerable
            .Range(0, 5)
            .Select(i =>
                Message("orders.early", $"{i}") with
                {
                    Key = "k",
                    ContentType = "text/plain",
                    Headers = MessageHeaders.Empty.With("x-a", $"{i}"),
                }
            )
            .ToList();
        foreach (var message in messages)
            await Transport.PublishAsync(message, cancellationToken);
        await Transport.PublishAsync(Message("invoices.early"), cancellationToken);
        var before = await Unroutable.SummarizeAsync(100, cancellationToken);
        await UnroutableAsync(6, cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        var replay = await Unroutable.ReplayAsync(subject: null, limit: 100, cancellationToken);
        var delivered = (await inbox.NextAsync(5, cancellationToken)).ConvertAll(delivery => delivery.Message);
        await UnroutableAsync(1, cancellationToken);
        var after = await Unroutable.SummarizeAsync(100, cancellationToken);

        Assert.That(
            (before.Count, before.Peeked, string.Join(' ', before.Subjects.Select(subject => $"{subject.Subject}={subject.Count}"))),
            Is.EqualTo((6, 6, "orders.early=5 invoices.early=1"))
        );
        Assert.That(before.Subjects[0].Oldest, Is.EqualTo(messages[0].CreatedAt).Within(TimeSpan.FromSeconds(1)));
        Assert.That((replay.Replayed, string.Join(' ', replay.Unroutable)), Is.EqualTo((5, "invoices.early")));
        Assert.That(
            delivered.Select(message => (message.Id, message.Key, message.ContentType, message.Headers["x-a"])),
            Is.EqualTo(messages.Select(message => (message.Id, message.Key, message.ContentType, message.Headers["x-a"])))
        );
        Assert.That(delivered.Select(message => message.Headers.Count), Is.All.EqualTo(1));
        Assert.That((after.Count, after.Subjects.Single().Subject), Is.EqualTo((1, "invoices.early")));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_replay_takes_the_subject_and_the_number_it_is_told_and_leaves_the_rest(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 3; i++)
            await Transport.PublishAsync(Message("orders.a", $"a{i}"), cancellationToken);
        for (var i = 0; i < 3; i++)
            await Transport.PublishAsync(Message("orders.b", $"b{i}"), cancellationToken);
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

    [Test, CancelAfter(60_000)]
    public async Task What_still_nobody_wants_stays_however_often_it_is_replayed(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 3; i++)
            await Transport.PublishAsync(Message("orders.never"), cancellationToken);

        for (var i = 0; i < 3; i++)
        {
            var replay = await Unroutable.ReplayAsync(subject: null, limit: 100, cancellationToken);
            await UnroutableAsync(3, cancellationToken);
            Assert.That((replay.Replayed, replay.Unroutable.Single()), Is.EqualTo((0, "orders.never")));
        }
    }

    // A broker takes a moment to put back what was looked at.
    private Task UnroutableAsync(int count, CancellationToken cancellationToken) =>
        Eventually.HoldsAsync(async () => (await Unroutable.SummarizeAsync(0, cancellationToken)).Count == count, cancellationToken);
}
