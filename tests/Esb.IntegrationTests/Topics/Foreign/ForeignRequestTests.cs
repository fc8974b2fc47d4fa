using System.Text;
using Esb.Core.Messages;
using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Foreign;

/// <summary>Any AMQP client can ask and answer; a reply goes only where somebody waits for it.</summary>
[TestFixture]
public sealed class ForeignRequestTests : BrokerFixture
{
    [TestCase(null, "corr-9", "corr-9")]
    [TestCase("my request", "corr-9", "my request")]
    [CancelAfter(60_000)]
    public async Task A_foreign_requester_recognises_its_reply(
        string? messageId,
        string correlationId,
        string expected,
        CancellationToken cancellationToken
    )
    {
        await SubscribeAsync(
            async (delivery, token) =>
            {
                await delivery.Reply!(delivery.Message.Reply(MessageBody.FromText("42"), TimeProvider.System), token);
                return Settlement.Done;
            },
            Subscription("prices.get")
        );
        var queue = (await Foreign.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        var request = new BasicProperties { ReplyTo = queue, CorrelationId = correlationId };
        if (messageId is not null)
            request.MessageId = messageId;

        await PublishForeignAsync("prices.get", request);
        var reply = await GetForeignAsync(queue, cancellationToken);

        Assert.That((Encoding.UTF8.GetString(reply.Body.Span), reply.BasicProperties.CorrelationId), Is.EqualTo(("42", expected)));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_foreign_service_answers_our_request(CancellationToken cancellationToken)
    {
        var queue = (await Foreign.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        await Foreign.QueueBindAsync(queue, Broker.Names.Topic("prices"), "prices.get", cancellationToken: cancellationToken);
        var request = Message("prices.get", "apples") with { CorrelationId = "caller-7" };

        var waiting = Transport.RequestAsync(request, TimeSpan.FromSeconds(10), cancellationToken);
        var found = await GetForeignAsync(queue, cancellationToken);
        var answer = new BasicProperties { CorrelationId = found.BasicProperties.MessageId, ContentType = "text/plain" };
        await Foreign.BasicPublishAsync(
            "",
            found.BasicProperties.ReplyTo!,
            mandatory: true,
            answer,
            Encoding.UTF8.GetBytes("42"),
            cancellationToken
        );
        var reply = await waiting;

        Assert.That(
            (reply.Body.ReadText(), reply.CorrelationId, found.BasicProperties.Expiration),
            Is.EqualTo(("42", "caller-7", "10000"))
        );
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "HDR-01"), Property("Case", "HDR-05")]
    public async Task A_reply_of_a_foreign_service_injects_no_headers(CancellationToken cancellationToken)
    {
        var queue = (await Foreign.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        await Foreign.QueueBindAsync(queue, Broker.Names.Topic("prices"), "prices.get", cancellationToken: cancellationToken);

        var waiting = Transport.RequestAsync(Message("prices.get", "apples"), TimeSpan.FromSeconds(10), cancellationToken);
        var found = await GetForeignAsync(queue, cancellationToken);
        var hostile = new BasicProperties
        {
            CorrelationId = found.BasicProperties.MessageId,
            ContentType = "text/plain\r\nX-Evil: 1",
            Headers = new Dictionary<string, object?>
            {
                ["x-lines"] = "a\r\nX-Evil: 1",
                ["x evil"] = "1",
                ["esb-party"] = "bank",
                ["x-kept"] = "yes",
            },
        };
        await Foreign.BasicPublishAsync("", found.BasicProperties.ReplyTo!, mandatory: true, hostile, "42"u8.ToArray(), cancellationToken);
        var reply = await waiting;

        Assert.That((reply.Body.ReadText(), reply.ContentType, reply.Party), Is.EqualTo(("42", (string?)null, (string?)null)));
        Assert.That(reply.Headers, Is.EquivalentTo(new[] { KeyValuePair.Create("x-kept", "yes") }));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_reply_that_is_refused_is_repeated_until_somebody_has_it(CancellationToken cancellationToken)
    {
        var replied = new TaskCompletionSource<bool>();
        await SubscribeAsync(ReplyAsync(replied), Subscription("prices.get"));
        var full = new Dictionary<string, object?> { ["x-max-length"] = 1, ["x-overflow"] = "reject-publish" };
        var queue = (await Foreign.QueueDeclareAsync(arguments: full, cancellationToken: cancellationToken)).QueueName;
        await Foreign.BasicPublishAsync("", queue, Encoding.UTF8.GetBytes("in the way"), cancellationToken);

        await PublishForeignAsync(
            "prices.get",
            new BasicProperties
            {
                ReplyTo = queue,
                CorrelationId = "c",
                Expiration = "15000",
            }
        );
        await Eventually.HoldsAsync(
            async () => (await Transport.PublishAsync(Message("orders.any"), cancellationToken)).Outcome == PublishOutcome.Confirmed,
            cancellationToken
        );
        var wasReplied = replied.Task.IsCompleted;
        await GetForeignAsync(queue, cancellationToken);
        var reply = await GetForeignAsync(queue, cancellationToken);

        Assert.That((wasReplied, await replied.Task, reply.BasicProperties.CorrelationId), Is.EqualTo((false, true, "c")));
    }

    [TestCase(false)]
    [TestCase(true)]
    [CancelAfter(60_000)]
    public async Task A_reply_is_abandoned_when_its_queue_is_gone_or_its_time_is_over(bool isThere, CancellationToken cancellationToken)
    {
        var replied = new TaskCompletionSource<bool>();
        await SubscribeAsync(ReplyAsync(replied), Subscription("prices.get"));
        var full = new Dictionary<string, object?> { ["x-max-length"] = 0, ["x-overflow"] = "reject-publish" };
        var queue = isThere ? (await Foreign.QueueDeclareAsync(arguments: full, cancellationToken: cancellationToken)).QueueName : "gone";

        await PublishForeignAsync(
            "prices.get",
            new BasicProperties
            {
                ReplyTo = queue,
                CorrelationId = "c",
                Expiration = isThere ? "1500" : "60000",
            }
        );

        Assert.That(await replied.Task, Is.False);
        Assert.That(Log.All, Has.Some.StartsWith("Warning: The reply to c was abandoned"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_foreign_request_that_expires_in_its_queue_becomes_a_dead_letter(CancellationToken cancellationToken)
    {
        var began = new TaskCompletionSource();
        var end = new TaskCompletionSource();
        var subscription = Subscription("prices.get") with { Prefetch = 1 };
        await SubscribeAsync(
            async (_, _) =>
            {
                began.TrySetResult();
                await end.Task;
                return Settlement.Done;
            },
            subscription
        );
        await PublishForeignAsync("prices.get", new BasicProperties());
        await began.Task.WaitAsync(cancellationToken);

        await PublishForeignAsync("prices.get", new BasicProperties { ReplyTo = "theirs", Expiration = "100" }, "expired");
        await Task.Delay(200, cancellationToken); // its time is over before the endpoint gets to it
        end.SetResult();
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That(
            (letter.Code, letter.Endpoint, letter.Message.Body.ReadText()),
            Is.EqualTo(("ESB-BROKER-MOVED", subscription.Endpoint, "expired"))
        );
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "AMQ-11")]
    public async Task A_reply_never_goes_into_a_queue_of_an_endpoint(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var victim = Subscription("prices.other");
        await SubscribeAsync(new Inbox().HandleAsync, victim);
        await SubscribeAsync(inbox, "prices.get");

        await PublishForeignAsync("prices.get", new BasicProperties { ReplyTo = Broker.Names.Endpoint(victim.Endpoint) });
        var delivery = await inbox.NextAsync(cancellationToken);

        Assert.That(delivery.Reply, Is.Null);
        Assert.That(Log.All, Has.Some.Contains("ESB-AMQP-REPLYTO"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_reply_that_nobody_waits_for_is_no_error(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "prices.get");

        await PublishForeignAsync("prices.get", new BasicProperties { ReplyTo = "gone" });
        var delivery = await inbox.NextAsync(cancellationToken);

        Assert.DoesNotThrowAsync(async () =>
            await delivery.Reply!(delivery.Message.Reply(MessageBody.Empty, TimeProvider.System), cancellationToken)
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_reply_with_a_content_type_that_does_not_fit_goes_without_it(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            async (delivery, token) =>
            {
                var reply = delivery.Message.Reply(MessageBody.FromText("42"), TimeProvider.System) with
                {
                    ContentType = new string('t', 300),
                    Headers = MessageHeaders.Empty.With("x-big", new string('x', 200_000)).With(EsbHeaders.Status, "200"),
                };
                await delivery.Reply!(reply, token);
                return Settlement.Done;
            },
            Subscription("prices.get")
        );

        var answer = await Transport.RequestAsync(Message("prices.get"), TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That((answer.Body.ReadText(), answer.ContentType, answer.Headers.Count), Is.EqualTo(("42", (string?)null, 1)));
    }

    private static DeliveryHandler ReplyAsync(TaskCompletionSource<bool> replied) =>
        async (delivery, token) =>
        {
            replied.TrySetResult(await delivery.Reply!(delivery.Message.Reply(MessageBody.FromText("42"), TimeProvider.System), token));
            return Settlement.Done;
        };
}
