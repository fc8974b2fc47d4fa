using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>Dead letters pass the broker, whoever made them, and are not lost on their way.</summary>
[TestFixture]
public sealed class BrokerDeadLetterTests : BrokerFixture
{
    [Test, CancelAfter(60_000)]
    public async Task A_reason_of_a_megabyte_is_cut(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            new Inbox(delivery => new Settlement.Divert(
                new DeadLetter(delivery.Message, "e", "ESB-TEST", new string('ä', 1 << 20), null, 1, default, default)
            )),
            "orders.#"
        );

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That(letter.Reason, Is.EqualTo(new string('ä', DeadLetter.MaxReasonLength / 2)));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_message_that_the_broker_moves_out_of_a_full_queue_becomes_a_dead_letter(CancellationToken cancellationToken)
    {
        var began = new TaskCompletionSource();
        var end = new TaskCompletionSource();
        var subscription = Subscription("orders.#") with
        {
            Prefetch = 1,
            Queue = new QueueConfig { MaxLength = 1, Overflow = QueueOverflow.DropHead },
        };
        await SubscribeAsync(
            async (_, _) =>
            {
                began.TrySetResult();
                await end.Task;
                return Settlement.Done;
            },
            subscription
        );
        await Transport.PublishAsync(Message("orders.first"), cancellationToken);
        await began.Task.WaitAsync(cancellationToken);

        for (var i = 0; i < 3; i++)
            await Transport.PublishAsync(
                Message("orders.dropped") with
                {
                    Headers = MessageHeaders.Empty.With("x-a", "1"),
                },
                cancellationToken
            );
        var letter = await NextDeadLetterAsync(cancellationToken);
        end.SetResult();

        Assert.That(
            (letter.Endpoint, letter.Code, letter.Message.Subject, letter.Message.Headers["x-a"]),
            Is.EqualTo((subscription.Endpoint, "ESB-BROKER-MOVED", "orders.dropped", "1"))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_request_that_expires_in_an_order_that_nobody_answers_from_becomes_a_dead_letter(CancellationToken cancellationToken)
    {
        var subscription = Subscription("prices.#") with { SingleActive = true };
        await (await SubscribeAsync(new Inbox().HandleAsync, subscription)).DisposeAsync(); // what is published waits

        Assert.ThrowsAsync<EsbException>(() =>
            Transport.RequestAsync(Message("prices.get"), TimeSpan.FromMilliseconds(100), cancellationToken)
        );
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That(
            (letter.Endpoint, letter.Code, letter.Message.Subject),
            Is.EqualTo((subscription.Endpoint, "ESB-BROKER-MOVED", "prices.get"))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_host_drops_an_expired_request_only_where_its_configuration_has_an_endpoint_that_answers(
        [Values] bool isKnown,
        CancellationToken cancellationToken
    )
    {
        var subscription = Subscription("prices.#") with { Answers = true };
        await (await SubscribeAsync(new Inbox().HandleAsync, subscription)).DisposeAsync();
        await using var standby = Broker.CreateTransport(Topics, endpoints: isKnown ? [subscription] : []);
        await standby.StartAsync(cancellationToken);

        Assert.ThrowsAsync<EsbException>(() =>
            Transport.RequestAsync(Message("prices.get", "ours"), TimeSpan.FromMilliseconds(100), cancellationToken)
        );
        await PublishForeignAsync("prices.get", new BasicProperties { ReplyTo = "theirs", Expiration = "100" }, "theirs");
        var letter = await NextDeadLetterAsync(cancellationToken, standby);

        Assert.That((letter.Endpoint, letter.Message.Body.ReadText()), Is.EqualTo((subscription.Endpoint, isKnown ? "theirs" : "ours")));
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
    public async Task A_dead_letter_whose_queue_somebody_deletes_is_held_until_it_is_there_again(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            new Inbox(delivery => new Settlement.Divert(new DeadLetter(delivery.Message, "e", "ESB-TEST", "r", null, 1, default, default))),
            "orders.#"
        );
        var message = Message("orders.accepted");

        await Foreign.QueueDeleteAsync(Broker.Names.DeadLetters, cancellationToken: cancellationToken);
        await Transport.PublishAsync(message, cancellationToken);

        Assert.That((await NextDeadLetterAsync(cancellationToken)).Message.Id, Is.EqualTo(message.Id));
    }
}
