using System.Globalization;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Planning;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>A quorum queue whose leader does not answer for a while: the broker then says that it is empty, and that nobody consumes
/// it.</summary>
[TestFixture, Category("Faults"), Category("Waits")]
public sealed class SilentLeaderTests
{
    private const int Messages = 100;

    private readonly Subscription _subscription = new(
        "ledger",
        [SubjectPattern.Parse("orders.#")!],
        1,
        32,
        SingleActive: false,
        new QueueConfig(),
        []
    );
    private readonly List<int> _arrived = [];
    private PrivateServers _servers = null!;
    private BrokerSession _session = null!;
    private string _queue = "";
    private (int Messages, int Consumers)? _guess;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await PrivateServers.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    [SetUp]
    public async Task FillQueue()
    {
        var broker = new TestBroker(_servers.RabbitMq);
        await using var transport = broker.CreateTransport(new Dictionary<string, TopicConfig> { ["orders"] = new() });
        await transport.StartAsync(CancellationToken.None);
        await (await transport.SubscribeAsync(_subscription, new Inbox().HandleAsync, CancellationToken.None)).DisposeAsync();
        for (var i = 0; i < Messages; i++)
            await transport.PublishAsync(
                EsbMessage.Create(MessageBody.FromText($"{i}"), TimeProvider.System) with
                {
                    Subject = "orders.accepted",
                },
                CancellationToken.None
            );
        _session = await BrokerSession.OpenAsync(
            new RabbitMqTransportConfig { Url = _servers.RabbitMq, Prefix = broker.Prefix },
            TestBroker.Configuration,
            ["orders"],
            TimeProvider.System,
            CancellationToken.None
        );
        _queue = broker.Names.Endpoint(_subscription.Endpoint);
        _arrived.Clear();
        _guess = null;
    }

    [TearDown]
    public async Task CloseSession() => await _session.DisposeAsync();

    [Test, CancelAfter(60_000)]
    public async Task A_migration_leaves_nothing_behind_in_it(CancellationToken cancellationToken)
    {
        var moving = new MessageMover(_session, _subscription.Endpoint).MoveAsync(_queue, TakeAsync, cancellationToken);
        await Eventually.HoldsAsync(() => _guess is not null, cancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(4), cancellationToken);
        await SwitchLeaderAsync("resume");
        var moved = await moving;

        Assert.That(_guess, Is.EqualTo((0, 0)), "what the broker says meanwhile");
        Assert.That(_arrived, Is.EqualTo(Enumerable.Range(0, Messages)));
        Assert.That(moved, Is.EqualTo(Messages));
        Assert.That(
            (await _session.Connection.CountAsync(_queue, cancellationToken))?.ConsumerCount,
            Is.Zero,
            "who has moved them is gone at once"
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_migration_ends_with_an_error_where_it_stays_silent(CancellationToken cancellationToken)
    {
        var mover = new MessageMover(_session, _subscription.Endpoint) { Patience = TimeSpan.FromSeconds(3) };

        var failure = Assert.ThrowsAsync<EsbException>(() => mover.MoveAsync(_queue, TakeAsync, cancellationToken));
        await SwitchLeaderAsync("resume");
        await new MessageMover(_session, _subscription.Endpoint).MoveAsync(_queue, TakeAsync, cancellationToken);

        Assert.That(failure!.Code, Is.EqualTo("ESB-PLAN-BUSY"));
        Assert.That(_arrived.Distinct().Order(), Is.EqualTo(Enumerable.Range(0, Messages)));
    }

    // The leader falls silent behind the tenth.
    private async ValueTask<PublishResult> TakeAsync(WireMessage wire, BasicProperties properties, string subject, string? key)
    {
        _arrived.Add(int.Parse(wire.Body.Span, CultureInfo.InvariantCulture));
        if (_arrived.Count != 10)
            return PublishResult.Confirmed;
        await SwitchLeaderAsync("suspend");
        await using var channel = await _session.Connection.CreateChannelAsync();
        var told = await channel.QueueDeclarePassiveAsync(_queue);
        _guess = ((int)told.MessageCount, (int)told.ConsumerCount);
        return PublishResult.Confirmed;
    }

    // Erlang's sys:suspend/1 and sys:resume/1 of the process that leads the queue.
    private Task SwitchLeaderAsync(string to) =>
        _servers.ControlRabbitMqAsync(
            "eval",
            $$"""
            {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"{{_queue}}">>)),
            sys:{{to}}(amqqueue:get_pid(Q)).
            """
        );
}
