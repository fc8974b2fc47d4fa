using System.Globalization;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Planning;
using Esb.Topics.RabbitMq.Topology;

namespace Esb.IntegrationTests.Topics;

/// <summary>A quorum queue whose leader does not answer for a while: the broker then says that it is empty, and that nobody consumes it.</summary>
[TestFixture, Category("Faults"), Category("Waits")]
public sealed class SilentLeaderTests
{
    private const int Messages = 100;

    private readonly Subscription _subscription = new("ledger", [SubjectPattern.Parse("orders.#")!], 1, 32, SingleActive: false, new QueueConfig(), []);
    private PrivateServers _servers = null!;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await PrivateServers.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    [Test, CancelAfter(60_000)]
    public async Task A_migration_leaves_nothing_behind_in_it(CancellationToken cancellationToken)
    {
        var broker = new TestBroker(_servers.RabbitMq);
        await using var transport = broker.CreateTransport(new Dictionary<string, TopicConfig> { ["orders"] = new() });
        await transport.StartAsync(cancellationToken);
        await (await transport.SubscribeAsync(_subscription, new Inbox().HandleAsync, cancellationToken)).DisposeAsync();
        for (var i = 0; i < Messages; i++)
            await transport.PublishAsync(EsbMessage.Create(MessageBody.FromText($"{i}"), TimeProvider.System) with { Subject = "orders.accepted" }, cancellationToken);
        await using var session = await BrokerSession.OpenAsync(new RabbitMqTransportConfig { Url = _servers.RabbitMq, Prefix = broker.Prefix }, ["orders"], TimeProvider.System, cancellationToken);
        var queue = broker.Names.Endpoint(_subscription.Endpoint);
        var arrived = new List<int>();
        var guess = 0u;
        var resumed = Task.CompletedTask;

        var moved = await new MessageMover(session, _subscription.Endpoint).MoveAsync(
            queue,
            async (wire, _, _, _) =>
            {
                arrived.Add(int.Parse(wire.Body.Span, CultureInfo.InvariantCulture));
                if (arrived.Count == 10)
                {
                    await SwitchLeaderAsync(queue, "suspend");
                    guess = (await (await session.Connection.CreateChannelAsync(cancellationToken: cancellationToken)).QueueDeclarePassiveAsync(queue, cancellationToken)).MessageCount;
                    resumed = ResumeAsync();
                }

                return PublishResult.Confirmed;
            },
            cancellationToken);
        await resumed;

        Assert.That(guess, Is.Zero, "what the broker says meanwhile");
        Assert.That(arrived, Is.EqualTo(Enumerable.Range(0, Messages)));
        Assert.That(moved, Is.EqualTo(Messages));
        Assert.That((await session.Connection.CountAsync(queue, cancellationToken))?.ConsumerCount, Is.Zero, "who has moved them is gone at once");

        async Task ResumeAsync()
        {
            await Task.Delay(TimeSpan.FromSeconds(4), cancellationToken);
            await SwitchLeaderAsync(queue, "resume");
        }
    }

    // Erlang's sys:suspend/1 and sys:resume/1 of the process that leads the queue.
    private Task SwitchLeaderAsync(string queue, string to) => _servers.ControlRabbitMqAsync("eval", $$"""
        {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"{{queue}}">>)),
        sys:{{to}}(amqqueue:get_pid(Q)).
        """);
}
