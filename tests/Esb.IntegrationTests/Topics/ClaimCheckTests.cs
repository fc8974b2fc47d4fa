using System.Text;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Storage.Files.Claims;
using Esb.Topics.RabbitMq;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics;

/// <summary>Large bodies travel as a reference, and nobody who subscribes here notices.</summary>
[TestFixture]
public sealed class ClaimCheckTests
{
    private static readonly IReadOnlyDictionary<string, TopicConfig> Topics = new Dictionary<string, TopicConfig>
    {
        ["orders"] = new(),
        ["foreign"] = new() { ClaimCheck = false },
    };

    private static readonly string Large = new('x', 2_000);

    private readonly List<IAsyncDisposable> _running = [];
    private DirectoryInfo _folder = null!;
    private TestBroker _broker = null!;
    private RabbitMqTransport _transport = null!;
    private IChannel _foreign = null!;

    [SetUp]
    public async Task Connect()
    {
        _folder = Directory.CreateTempSubdirectory("esb-");
        _broker = new TestBroker();
        _transport = _broker.CreateTransport(Topics, claims: new FolderClaimCheckStore(_folder.FullName, TimeSpan.FromDays(30), TimeProvider.System), largestWhole: 1_000);
        await _transport.StartAsync(CancellationToken.None);
        var connection = await _broker.ConnectAsync();
        _running.Add(connection);
        _foreign = await connection.CreateChannelAsync();
    }

    [TearDown]
    public async Task CleanUp()
    {
        foreach (var part in _running.AsEnumerable().Reverse()) await part.DisposeAsync();
        _running.Clear();
        await _transport.DisposeAsync();
        await _broker.CleanUpAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase("orders.large", 2_000, true)]
    [TestCase("orders.small", 1_000, false)]
    [TestCase("foreign.large", 2_000, false)]
    [CancelAfter(20_000)]
    public async Task A_large_body_travels_as_a_reference_unless_foreign_clients_read_the_topic(string subject, int length, bool isReference, CancellationToken cancellationToken)
    {
        var inbox = await SubscribeAsync(Subscription(subject));
        var queue = await ListenAsync(subject, cancellationToken);
        var message = Message(subject, new string('x', length));

        var result = await _transport.PublishAsync(message, cancellationToken);
        var onTheWire = await GetAsync(queue, cancellationToken);
        var delivered = (await inbox.NextAsync(cancellationToken)).Message;

        Assert.That(result.Outcome, Is.EqualTo(PublishOutcome.Confirmed));
        Assert.That((onTheWire.Body.Length, onTheWire.BasicProperties.Headers!.ContainsKey("esb-claim")), Is.EqualTo((isReference ? 0 : length, isReference)));
        Assert.That((delivered.Body.ReadText(), delivered.Headers.Count, delivered.Id), Is.EqualTo((message.Body.ReadText(), 1, message.Id)));
    }

    [Test, CancelAfter(20_000)]
    public async Task The_reference_survives_retries_and_the_dead_letter_holds_the_body(CancellationToken cancellationToken)
    {
        var bodies = new List<string>();
        await SubscribeAsync(
            Subscription("orders.#"),
            delivery =>
            {
                bodies.Add(delivery.Message.Body.ReadText());
                return delivery.Message.Attempt == 0
                    ? new Settlement.Later(TimeSpan.FromMilliseconds(200), 1)
                    : new Settlement.Divert(new DeadLetter(delivery.Message, "e", "ESB-TEST", "r", null, 1, default, default));
            });

        await _transport.PublishAsync(Message("orders.large", Large), cancellationToken);
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That(bodies, Is.EqualTo(new[] { Large, Large }));
        Assert.That((letter.Message.Body.ReadText(), letter.Message.Headers[EsbHeaders.Claim]), Is.EqualTo((Large, (string?)null)));
        Assert.That(_folder.GetFiles("*.body", SearchOption.AllDirectories), Has.Length.EqualTo(2), "to its reader it travels as a reference too");
    }

    [Test, CancelAfter(20_000)]
    public async Task A_message_that_is_sent_to_an_endpoint_travels_as_a_reference_too(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.large");
        var inbox = await SubscribeAsync(subscription);

        var result = await _transport.SendAsync(subscription.Endpoint, Message("orders.large", Large), DeliveryKind.Replay, cancellationToken);
        var delivered = await inbox.NextAsync(cancellationToken);

        Assert.That((result.Outcome, delivered.Kind, delivered.Message.Body.ReadText()), Is.EqualTo((PublishOutcome.Confirmed, DeliveryKind.Replay, Large)));
        Assert.That(_folder.GetFiles("*.body", SearchOption.AllDirectories), Has.Length.EqualTo(1));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_body_that_is_gone_makes_a_dead_letter(CancellationToken cancellationToken)
    {
        await _transport.PublishAsync(Message("orders.large", Large), cancellationToken); // waits unroutable
        foreach (var body in _folder.GetFiles("*.body", SearchOption.AllDirectories)) body.Delete();
        var subscription = Subscription("orders.#");
        var inbox = await SubscribeAsync(subscription);

        await _transport.Unroutable.ReplayAsync(subject: null, limit: 10, cancellationToken);
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That((letter.Code, letter.Endpoint, letter.Message.Subject), Is.EqualTo(("ESB-CLAIM-GONE", subscription.Endpoint, "orders.large")));
        Assert.That(inbox.TryNext(out _), Is.False);
    }

    [Test, CancelAfter(20_000)]
    public async Task A_store_that_is_away_holds_the_message_until_it_is_back(CancellationToken cancellationToken)
    {
        await _transport.PublishAsync(Message("orders.large", Large), cancellationToken);
        var away = new DirectoryInfo(_folder.FullName + "-away");
        Directory.Move(_folder.FullName, away.FullName);
        var inbox = await SubscribeAsync(Subscription("orders.#"));

        await _transport.Unroutable.ReplayAsync(subject: null, limit: 10, cancellationToken);
        await Task.Delay(500, cancellationToken); // long enough for a delivery that should not be
        var early = inbox.TryNext(out _);
        Directory.Move(away.FullName, _folder.FullName);

        Assert.That((early, (await inbox.NextAsync(cancellationToken)).Message.Body.ReadText()), Is.EqualTo((false, Large)));
    }

    [Test, CancelAfter(20_000)]
    public async Task Requests_and_replies_have_their_bodies(CancellationToken cancellationToken)
    {
        var subscription = Subscription("orders.get");
        _broker.Note(subscription);
        _running.Add(await _transport.SubscribeAsync(
            subscription,
            async (delivery, token) =>
            {
                await delivery.Reply!(delivery.Message.Reply(MessageBody.FromText(delivery.Message.Body.ReadText() + "y"), TimeProvider.System), token);
                return Settlement.Done;
            },
            cancellationToken));

        var reply = await _transport.RequestAsync(Message("orders.get", Large), TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That((reply.Body.ReadText(), reply.Headers[EsbHeaders.Claim]), Is.EqualTo((Large + "y", (string?)null)));
        Assert.That(_folder.GetFiles("*.body", SearchOption.AllDirectories), Has.Length.EqualTo(2));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_foreign_requester_gets_the_reply_itself(CancellationToken cancellationToken)
    {
        await SubscribeAsync(Subscription("orders.get"), delivery =>
        {
            _ = delivery.Reply!(delivery.Message.Reply(MessageBody.FromText(Large), TimeProvider.System), CancellationToken.None).AsTask();
            return Settlement.Done;
        });
        var queue = (await _foreign.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;

        await PublishForeignAsync("orders.get", new BasicProperties { ReplyTo = queue, CorrelationId = "c" }, "question");

        Assert.That((await GetAsync(queue, cancellationToken)).Body.Length, Is.EqualTo(Large.Length));
    }

    [Test, CancelAfter(20_000)]
    public async Task A_reference_of_a_foreign_client_is_worth_what_it_holds(CancellationToken cancellationToken)
    {
        var queue = await ListenAsync("orders.#", cancellationToken);
        await _transport.PublishAsync(Message("orders.large", Large), cancellationToken);
        var reference = Encoding.UTF8.GetString((byte[])(await GetAsync(queue, cancellationToken)).BasicProperties.Headers!["esb-claim"]!);
        var inbox = await SubscribeAsync(Subscription("orders.#"));

        await PublishForeignAsync("orders.given", Claiming(reference), "");
        var given = (await inbox.NextAsync(cancellationToken)).Message;
        await PublishForeignAsync("orders.whole", Claiming(reference), "a body of its own");
        var whole = (await inbox.NextAsync(cancellationToken)).Message;
        await PublishForeignAsync("orders.guessed", Claiming(reference[..^1] + (reference[^1] == '0' ? '1' : '0')), "");
        await PublishForeignAsync("orders.garbage", Claiming("../../etc/passwd"), "");
        var letters = new[] { await NextDeadLetterAsync(cancellationToken), await NextDeadLetterAsync(cancellationToken) };

        Assert.That((given.Body.ReadText(), whole.Body.ReadText()), Is.EqualTo((Large, "a body of its own")));
        Assert.That(letters.Select(letter => letter.Code), Is.All.EqualTo("ESB-CLAIM-GONE"));
        Assert.That(inbox.TryNext(out _), Is.False);
    }

    private static BasicProperties Claiming(string reference) =>
        new() { MessageId = Guid.NewGuid().ToString(), Headers = new Dictionary<string, object?> { ["esb-claim"] = reference } };

    private static EsbMessage Message(string subject, string body) =>
        EsbMessage.Create(MessageBody.FromText(body), TimeProvider.System) with { Subject = subject, Headers = MessageHeaders.Empty.With("x-a", "1") };

    private static Subscription Subscription(string pattern) =>
        new($"endpoint-{Guid.NewGuid():N}"[..20], [SubjectPattern.Parse(pattern)!], 1, 32, SingleActive: false, new QueueConfig(), [TimeSpan.FromMilliseconds(200)]);

    private async Task<Inbox> SubscribeAsync(Subscription subscription, Func<TopicDelivery, Settlement>? settle = null)
    {
        var inbox = new Inbox(settle);
        _broker.Note(subscription);
        _running.Add(await _transport.SubscribeAsync(subscription, inbox.HandleAsync, CancellationToken.None));
        return inbox;
    }

    private async Task<DeadLetter> NextDeadLetterAsync(CancellationToken cancellationToken)
    {
        var next = new TaskCompletionSource<DeadLetter>();
        await using var reading = await _transport.ReadDeadLettersAsync(
            (letter, _) => next.TrySetResult(letter) ? ValueTask.CompletedTask : throw new InvalidOperationException("One at a time."),
            cancellationToken);
        return await next.Task.WaitAsync(cancellationToken);
    }

    private async Task<string> ListenAsync(string pattern, CancellationToken cancellationToken)
    {
        var queue = (await _foreign.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        await _foreign.QueueBindAsync(queue, _broker.Names.Topic(Subject.TopicOf(pattern)), pattern, cancellationToken: cancellationToken);
        return queue;
    }

    private async Task PublishForeignAsync(string routingKey, BasicProperties properties, string body) =>
        await _foreign.BasicPublishAsync(_broker.Names.Topic(Subject.TopicOf(routingKey)), routingKey, mandatory: false, properties, Encoding.UTF8.GetBytes(body));

    private async Task<BasicGetResult> GetAsync(string queue, CancellationToken cancellationToken)
    {
        while (true)
        {
            if (await _foreign.BasicGetAsync(queue, autoAck: true, cancellationToken) is { } found) return found;
            await Task.Delay(20, cancellationToken);
        }
    }
}
