using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Foreign;

/// <summary>Headers that nest as deep as a frame has room for end no process, wherever they are read: they arrive without the nested
/// value.</summary>
[TestFixture(Nesting.Arrays), TestFixture(Nesting.Tables, Category = "Thorough"), TestFixture(Nesting.Mixed, Category = "Thorough")]
public sealed class NestedHeaderTests(Nesting nesting) : BrokerFixture
{
    private IConnection _connection = null!;

    [SetUp]
    public async Task ConnectStranger() => _connection = await Broker.ConnectAsync();

    [TearDown]
    public async Task DisconnectStranger() => await _connection.DisposeAsync();

    [TestCase(DeliveryMode.Parallel)]
    [TestCase(DeliveryMode.Ordered, Category = "Thorough")]
    [TestCase(DeliveryMode.OrderedByKey, Category = "Thorough")]
    [CancelAfter(60_000)]
    public async Task A_deeply_nested_header_is_left_out_of_a_delivery(DeliveryMode delivery, CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, Subscription(delivery));

        await PublishAsync("orders.deep");
        await PublishForeignAsync("orders.next", new BasicProperties());
        var deliveries = await inbox.NextAsync(2, cancellationToken);

        Assert.That(deliveries.Select(one => one.Message.Subject), Is.EquivalentTo(new[] { "orders.deep", "orders.next" }));
        var deep = deliveries.Single(one => one.Message.Subject == "orders.deep").Message;
        Assert.That((Headers(deep), deep.Body.ReadText()), Is.EqualTo(("x-kept=yes", "deep")));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_deeply_nested_header_is_left_out_of_a_reply(CancellationToken cancellationToken)
    {
        var queue = (await Foreign.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        await Foreign.QueueBindAsync(queue, Broker.Names.Topic("prices"), "prices.get", cancellationToken: cancellationToken);

        var waiting = Transport.RequestAsync(Message("prices.get"), TimeSpan.FromSeconds(30), cancellationToken);
        var request = (await GetForeignAsync(queue, cancellationToken)).BasicProperties;
        await NestedHeaders.PublishAsync(
            _connection,
            "",
            request.ReplyTo!,
            NestedHeaders.Fill(new BasicProperties { CorrelationId = request.MessageId }, nesting),
            "42"
        );
        var reply = await waiting;

        Assert.That((Headers(reply), reply.Body.ReadText()), Is.EqualTo(("x-kept=yes", "42")));
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
    public async Task A_deeply_nested_header_is_left_out_of_a_dead_letter_that_a_stranger_wrote(CancellationToken cancellationToken)
    {
        await NestedHeaders.PublishAsync(_connection, "", Broker.Names.DeadLetters, NestedHeaders.Fill(new BasicProperties(), nesting));
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That((Headers(letter.Message), letter.Message.Body.ReadText()), Is.EqualTo(("x-kept=yes", "deep")));
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
    public async Task A_deeply_nested_header_is_left_out_of_the_dead_letter_of_an_endpoint(CancellationToken cancellationToken)
    {
        await SubscribeAsync(
            new Inbox(delivery => new Settlement.Divert(new DeadLetter(delivery.Message, "e", "ESB-TEST", "r", null, 1, default, default))),
            "orders.#"
        );

        await PublishAsync("orders.deep");
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That((letter.Code, Headers(letter.Message), letter.Message.Body.ReadText()), Is.EqualTo(("ESB-TEST", "x-kept=yes", "deep")));
    }

    // With what the broker adds to it, the frame is larger than the connection agreed to.
    [Test, Category("Thorough"), CancelAfter(60_000)]
    public async Task A_deeply_nested_header_is_left_out_of_what_the_broker_moves_to_the_dead_letters(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.#") with
        {
            Queue = new QueueConfig { MaxLength = 1, Overflow = QueueOverflow.DropHead },
        };
        await (await SubscribeAsync(new Inbox().HandleAsync, subscription)).DisposeAsync(); // what is published waits

        await PublishAsync("orders.deep");
        await PublishForeignAsync("orders.next", new BasicProperties());
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That(
            (letter.Code, letter.Message.Subject, Headers(letter.Message)),
            Is.EqualTo(("ESB-BROKER-MOVED", "orders.deep", "x-kept=yes"))
        );
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
    public async Task A_delivery_with_a_deeply_nested_header_is_tried_again_later(CancellationToken cancellationToken)
    {
        var inbox = new Inbox(delivery =>
            delivery.Message.Attempt == 0 ? new Settlement.Later(TimeSpan.FromMilliseconds(200), 1) : Settlement.Done
        );
        await SubscribeAsync(inbox, "orders.#");

        await PublishAsync("orders.deep");
        var deliveries = await inbox.NextAsync(2, cancellationToken);

        Assert.That(
            deliveries.Select(one => (one.Message.Attempt, Headers(one.Message))),
            Is.EqualTo(new[] { (0, "x-kept=yes"), (1, "x-kept=yes") })
        );
    }

    [Test, Category("Thorough"), CancelAfter(240_000)] // a busy broker needs long for each look at such a header
    public async Task An_unroutable_message_with_a_deeply_nested_header_is_replayed(CancellationToken cancellationToken)
    {
        await PublishAsync("orders.lost");
        await Eventually.HoldsAsync(async () => await CountUnroutableAsync(cancellationToken) == 1, cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox, "orders.#");

        var replayed = 0;
        await Eventually.HoldsAsync(async () => (replayed = await UnlessUnansweredAsync(ReplayAsync)) > 0, cancellationToken);
        var message = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.That((replayed, message.Subject, Headers(message)), Is.EqualTo((1, "orders.lost", "x-kept=yes")));

        async Task<int> ReplayAsync() => (await Transport.Unroutable.ReplayAsync(subject: null, limit: 10, cancellationToken)).Replayed;
    }

    private Task<int> CountUnroutableAsync(CancellationToken cancellationToken) =>
        UnlessUnansweredAsync(async () => (int)(await Transport.Unroutable.SummarizeAsync(10, cancellationToken)).Count);

    // A busy broker may take longer to write such a header than a question has time.
    private static async Task<int> UnlessUnansweredAsync(Func<Task<int>> ask)
    {
        try
        {
            return await ask();
        }
        catch (EsbException ex) when (ex.Code == "ESB-TOPIC-UNAVAILABLE")
        {
            return -1;
        }
    }

    [Test, CancelAfter(60_000)]
    public async Task Hosts_hear_each_other_beside_a_deeply_nested_header(CancellationToken cancellationToken)
    {
        var heard = new TaskCompletionSource();
        await using var other = Broker.CreateTransport(Topics);
        await other.StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => Transport.Farm.Hosts.Count == 2 && other.Farm.Hosts.Count == 2, cancellationToken);
        using var listening = other.Farm.Subscribe<Word>(
            (_, _, _) =>
            {
                heard.TrySetResult();
                return Task.CompletedTask;
            }
        );

        await NestedHeaders.PublishAsync(_connection, Broker.Names.Farm, "", NestedHeaders.Fill(new BasicProperties(), nesting));
        await Eventually.HoldsAsync(
            async () =>
            {
                await Transport.Farm.BroadcastAsync(new Word(), cancellationToken);
                return heard.Task.IsCompleted;
            },
            cancellationToken
        );

        Assert.That(Transport.Farm.Hosts, Has.Count.EqualTo(2));
    }

    private Subscription Subscription(DeliveryMode delivery) =>
        Subscription("orders.#") with
        {
            SingleActive = delivery == DeliveryMode.Ordered,
            Lanes = delivery == DeliveryMode.OrderedByKey ? 2 : null,
            RetryDelays = delivery == DeliveryMode.Parallel ? [TimeSpan.FromMilliseconds(200)] : [],
        };

    private Task PublishAsync(string subject) =>
        NestedHeaders.PublishAsync(
            _connection,
            Broker.Names.Topic(Subject.TopicOf(subject)),
            subject,
            NestedHeaders.Fill(new BasicProperties { MessageId = Guid.NewGuid().ToString() }, nesting)
        );

    // What fills the frame is a byte array and arrives as text.
    private static string Headers(EsbMessage message) =>
        string.Join(' ', message.Headers.Where(header => header.Key != "x-fill").Select(header => $"{header.Key}={header.Value}"));

    private sealed record Word;
}
