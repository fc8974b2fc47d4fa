using System.Text;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>The party of a message travels over the broker, and is believed of our own user alone.</summary>
[CancelAfter(60_000)]
public sealed class BrokerPartyTests
{
    private static readonly Dictionary<string, TopicConfig> Topics = new() { ["orders"] = new() };

    private readonly LogLines _log = new();
    private PrivateServers _servers = null!;
    private TestBroker _broker = null!;
    private RabbitMqTransport _host = null!;
    private IConnection _connection = null!;
    private IChannel _partner = null!;

    [OneTimeSetUp]
    public async Task StartBroker()
    {
        _servers = await PrivateServers.StartAsync();
        foreach (var user in new[] { "esb", "partner" })
        {
            await _servers.ControlRabbitMqAsync("add_user", user, user);
            await _servers.ControlRabbitMqAsync("set_permissions", user, ".*", ".*", ".*");
        }
    }

    [OneTimeTearDown]
    public async Task StopBroker() => await _servers.DisposeAsync();

    [SetUp]
    public async Task Connect()
    {
        _broker = new TestBroker(UrlOf("esb"));
        _host = _broker.CreateTransport(Topics, loggers: _log.Factory);
        await _host.StartAsync(CancellationToken.None);
        _connection = await new TestBroker(UrlOf("partner")).ConnectAsync();
        _partner = await _connection.CreateChannelAsync(
            new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true)
        );
    }

    [TearDown]
    public async Task Disconnect()
    {
        await _connection.DisposeAsync();
        await _host.DisposeAsync();
    }

    [Test]
    public async Task Party_arrives_and_stays_through_retries_to_the_dead_letter(
        [Values(null, 4)] int? lanes,
        CancellationToken cancellationToken
    )
    {
        var later = lanes is null ? 1 : 0;
        var inbox = new Inbox(delivery =>
            delivery.Message.Attempt < later
                ? new Settlement.Later(TimeSpan.FromSeconds(1), delivery.Message.Attempt + 1)
                : new Settlement.Divert(
                    new(delivery.Message, "the-endpoint", "ESB-TEST", "", null, 1, DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch)
                )
        );
        await using var subscription = await _host.SubscribeAsync(
            Subscription() with
            {
                Lanes = lanes,
                RetryDelays = lanes is null ? [TimeSpan.FromSeconds(1)] : [],
            },
            inbox.HandleAsync,
            cancellationToken
        );

        await _host.PublishAsync(Message("1") with { Party = "shop", Key = "k" }, cancellationToken);
        var deliveries = await inbox.NextAsync(later + 1, cancellationToken);
        var letter = await NextDeadLetterAsync(cancellationToken);

        Assert.That(deliveries.Select(delivery => delivery.Message.Party), Is.All.EqualTo("shop"));
        Assert.That(letter.Message.Party, Is.EqualTo("shop"));
    }

    [Test]
    public async Task Message_of_ours_without_a_party_has_none(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        await using var subscription = await _host.SubscribeAsync(Subscription(), inbox.HandleAsync, cancellationToken);

        await _host.PublishAsync(Message("1"), cancellationToken);

        Assert.That((await inbox.NextAsync(cancellationToken)).Message.Party, Is.Null);
    }

    [Test]
    public async Task Party_that_another_user_claims_is_not_believed_to_a_topic_nor_past_it(CancellationToken cancellationToken)
    {
        var inbox = new Inbox();
        var wanted = Subscription();
        await using var subscription = await _host.SubscribeAsync(wanted, inbox.HandleAsync, cancellationToken);
        string?[] users = ["partner", null];

        foreach (var user in users)
        {
            await ClaimAsync(_broker.Names.Topic("orders"), "orders.accepted", user);
            await ClaimAsync("", _broker.Names.Endpoint(wanted.Endpoint), user, ("esb-kind", "replay"), ("esb-subject", "orders.accepted"));
            await ClaimAsync("", _broker.Names.DeadLetters, user, ("esb-dead-endpoint", "x"), ("esb-subject", "orders.accepted"));
        }

        var parties = (await inbox.NextAsync(4, cancellationToken)).ConvertAll(delivery => delivery.Message.Party);
        string?[] letters =
        [
            (await NextDeadLetterAsync(cancellationToken)).Message.Party,
            (await NextDeadLetterAsync(cancellationToken)).Message.Party,
        ];

        Assert.That(parties, Is.EqualTo(new[] { "partner", "partner", null, null }));
        Assert.That(letters, Is.EqualTo(users));
    }

    [Test]
    public async Task Nobody_else_publishes_as_our_user()
    {
        var refused = Assert.CatchAsync(() => ClaimAsync(_broker.Names.Topic("orders"), "orders.accepted", "esb"));

        Assert.That(refused, Is.Not.Null);
        Assert.That(_partner.CloseReason?.ReplyCode, Is.EqualTo(Constants.PreconditionFailed), "the broker vouches for it");
    }

    [Test]
    public async Task Unroutable_message_that_is_replayed_keeps_the_party_that_it_had_and_gets_none_that_it_claimed(
        CancellationToken cancellationToken
    )
    {
        await _host.PublishAsync(Message("1") with { Party = "shop" }, cancellationToken);
        await ClaimAsync(_broker.Names.Topic("orders"), "orders.accepted", "partner");
        await ClaimAsync(_broker.Names.Topic("orders"), "orders.accepted", user: null);
        var inbox = new Inbox();
        await using var subscription = await _host.SubscribeAsync(Subscription(), inbox.HandleAsync, cancellationToken);

        var replayed = 0;
        await Eventually.HoldsAsync(
            async () => (replayed += (await _host.Unroutable.ReplayAsync(subject: null, limit: 10, cancellationToken)).Replayed) == 3,
            cancellationToken
        );
        var parties = (await inbox.NextAsync(3, cancellationToken)).ConvertAll(delivery => delivery.Message.Party);

        Assert.That(parties, Is.EqualTo(new[] { "shop", "partner", null }));
    }

    [Test]
    public async Task Host_that_the_broker_knows_by_another_name_publishes_all_the_same_and_believes_nobody(
        CancellationToken cancellationToken
    )
    {
        await using var connection = await _broker.ConnectAsync();
        var mistaken = new BrokerUser("partner", _log.Factory.CreateLogger("tests"));

        await mistaken.ProveAsync(connection, _broker.Names.Probes, cancellationToken);
        var shown = new BasicProperties
        {
            UserId = "partner",
            Headers = new Dictionary<string, object?> { ["esb-party"] = "shop" },
        };
        var party = new WireReader(_broker.Names, new WireSignature(FarmKeys.None, mistaken), TimeProvider.System).PartyOf(shown, default);

        Assert.That((mistaken.Name, party), Is.EqualTo(((string?)null, "partner")));
        Assert.That(_log.All, Has.Exactly(1).Contains("The broker does not know this host as partner"));
        Assert.That((connection.IsOpen, _host.Status.IsReady), Is.EqualTo((true, true)));
    }

    private static EsbMessage Message(string body) =>
        EsbMessage.Create(MessageBody.FromText(body), TimeProvider.System) with
        {
            Subject = "orders.accepted",
        };

    private static Subscription Subscription() =>
        new(
            $"endpoint-{Guid.NewGuid():N}"[..20],
            [SubjectPattern.Parse("orders.#")!],
            1,
            32,
            SingleActive: false,
            new QueueConfig(),
            [TimeSpan.FromSeconds(1)]
        );

    private string UrlOf(string user) => _servers.RabbitMq.Replace("guest:guest", $"{user}:{user}", StringComparison.Ordinal);

    private async Task ClaimAsync(string exchange, string routingKey, string? user, params (string Name, string Value)[] others)
    {
        var properties = new BasicProperties { Headers = new Dictionary<string, object?> { ["esb-party"] = "bank" } };
        if (user is not null)
            properties.UserId = user;
        foreach (var (name, value) in others)
            properties.Headers[name] = value;
        await _partner.BasicPublishAsync(exchange, routingKey, mandatory: false, properties, Encoding.UTF8.GetBytes("claimed"));
    }

    private async Task<DeadLetter> NextDeadLetterAsync(CancellationToken cancellationToken)
    {
        var next = new TaskCompletionSource<DeadLetter>();
        await using var reading = await _host.ReadDeadLettersAsync(
            async (letter, over) =>
            {
                if (!next.TrySetResult(letter))
                    await Task.Delay(Timeout.Infinite, over); // the next one's
            },
            cancellationToken
        );
        return await next.Task.WaitAsync(cancellationToken);
    }
}
