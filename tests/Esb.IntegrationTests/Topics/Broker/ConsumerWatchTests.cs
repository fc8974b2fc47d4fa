using System.Diagnostics;
using System.Globalization;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>A broker that loses a consumer without a word: the host it belonged to notices, also where others consume the same
/// queue.</summary>
[TestFixture, Category("Faults"), Property("Case", "T-HLT-1")]
public sealed class ConsumerWatchTests
{
    private static readonly TimeSpan BadWithin = TimeSpan.FromSeconds(15);
    private static readonly TimeSpan GoodWithin = TimeSpan.FromSeconds(30);
    private static readonly Dictionary<string, TopicConfig> Topics = new() { ["orders"] = new() };

    private readonly Subscription _subscription = new(
        "ledger",
        [SubjectPattern.Parse("orders.#")!],
        1,
        32,
        SingleActive: false,
        new QueueConfig(),
        []
    );
    private PrivateServers _servers = null!;
    private TestBroker _broker = null!;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await PrivateServers.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    [SetUp]
    public void NameQueues() => _broker = new TestBroker(_servers.RabbitMq);

    [Test, CancelAfter(120_000)]
    public async Task The_only_consumer_is_replaced(CancellationToken cancellationToken)
    {
        await using var host = await StartAsync(cancellationToken);

        await LoseOneAsync([host], cancellationToken);

        Assert.That(host.Log.All.Where(line => line.Contains("its consumer was lost")), Has.Exactly(1).StartsWith("Warning"));
    }

    [Test, CancelAfter(120_000)]
    public async Task The_consumer_of_an_idle_host_is_replaced_although_another_host_consumes(CancellationToken cancellationToken)
    {
        await using var left = await StartAsync(cancellationToken);
        await using var right = await StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => new[] { left, right }.All(host => ConsumersKnownTo(host) == 2), cancellationToken);

        await LoseOneAsync([left, right], cancellationToken);

        await Eventually.HoldsAsync(async () => await CountAsync() == 2, cancellationToken);
        var replaced = new[] { left, right }
            .Select(host => host.Log.All.Count(line => line.Contains("1 consumers, and 2 hosts say")))
            .ToArray();
        Assert.That(
            replaced,
            Has.All.LessThanOrEqualTo(1).And.Some.EqualTo(1),
            "whoever consumes anew is not the one that is missing; the other need not, where that one came first"
        );
    }

    [Test, Category("Alone"), CancelAfter(120_000)]
    public async Task A_host_that_gets_deliveries_does_not_suspect_itself(CancellationToken cancellationToken)
    {
        await using var left = await StartAsync(cancellationToken);
        await using var right = await StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => new[] { left, right }.All(host => ConsumersKnownTo(host) == 2), cancellationToken);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var load = PublishAsync(left.Transport, ending.Token);

        await LoseOneAsync([left, right], cancellationToken);
        await Eventually.HoldsAsync(async () => await CountAsync() == 2, cancellationToken);
        await ending.CancelAsync();
        await load;

        Assert.That(
            new[] { left, right }.Count(host => host.Log.All.Any(line => line.Contains("does not consume"))),
            Is.EqualTo(1),
            "only the one whose consumer it was"
        );
    }

    [
        TestCase(null, TestName = "The_only_consumer_in_order_is_replaced"),
        TestCase(3, TestName = "The_only_consumers_of_lanes_are_replaced")
    ]
    [CancelAfter(120_000)]
    public async Task The_only_consumer_of_each_queue_in_order_is_replaced_and_the_order_is_kept(
        int? lanes,
        CancellationToken cancellationToken
    )
    {
        var inbox = new Inbox();
        var subscription = _subscription with { SingleActive = lanes is null, Lanes = lanes };
        await using var host = await StartAsync(cancellationToken, subscription, inbox);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var load = PublishAsync(host.Transport, ending.Token);
        await inbox.NextAsync(10, cancellationToken);

        var started = Stopwatch.GetTimestamp();
        foreach (var queue in _broker.Names.LanesOf(subscription))
            await LoseActiveAsync(queue);
        await ReplacedAsync([host], started, cancellationToken);
        await ending.CancelAsync();
        var published = await load;
        var numbers = new List<int>();
        while (numbers.Count == 0 || numbers[^1] < published - 1)
            numbers.Add(int.Parse((await inbox.NextAsync(cancellationToken)).Message.Body.ReadText(), CultureInfo.InvariantCulture));

        Assert.That(
            host.Log.All.Count(line => line.Contains("was lost") && line.StartsWith("Warning", StringComparison.Ordinal)),
            Is.InRange(1, lanes ?? 1)
        );
        Assert.That(numbers.Distinct(), Is.EqualTo(Enumerable.Range(10, published - 10)), "each of the key, in order");
    }

    // The queue forgets a consumer; the channel it was on hears nothing of it.
    private async Task LoseOneAsync(Host[] hosts, CancellationToken cancellationToken)
    {
        var started = Stopwatch.GetTimestamp();
        await LoseActiveAsync(_broker.Names.Endpoint(_subscription.Endpoint));
        await ReplacedAsync(hosts, started, cancellationToken);
    }

    private Task LoseActiveAsync(string queue) =>
        _servers.ControlRabbitMqAsync(
            "eval",
            $$"""
            {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"{{queue}}">>)),
            Consumer = hd([C || C <- rabbit_amqqueue:consumers(Q), element(5, C)]),
            ra:process_command(amqqueue:get_pid(Q), rabbit_fifo:make_checkout({element(2, Consumer), element(1, Consumer)}, cancel, #{})).
            """
        );

    private async Task ReplacedAsync(Host[] hosts, long started, CancellationToken cancellationToken)
    {
        await Eventually.HoldsAsync(() => hosts.Any(host => !host.Running.IsLive), cancellationToken);
        var noticed = Stopwatch.GetElapsedTime(started);
        await Eventually.HoldsAsync(
            async () => hosts.All(host => host.Running.IsLive) && await CountAsync(hosts[0].Subscription) == hosts.Length,
            cancellationToken
        );
        var mended = Stopwatch.GetElapsedTime(started);
        TestContext.Out.WriteLine($"noticed after {noticed.TotalSeconds:0.0} s, mended after {mended.TotalSeconds:0.0} s");
        Assert.That(noticed, Is.LessThan(BadWithin));
        Assert.That(mended, Is.LessThan(GoodWithin));
    }

    private async Task<Host> StartAsync(CancellationToken cancellationToken, Subscription? subscription = null, Inbox? inbox = null)
    {
        subscription ??= _subscription;
        var log = new LogLines();
        var transport = _broker.CreateTransport(Topics, loggers: log.Factory);
        await transport.StartAsync(cancellationToken);
        var running = await transport.SubscribeAsync(subscription, (inbox ?? new Inbox()).HandleAsync, cancellationToken);
        await Eventually.HoldsAsync(() => running.IsLive, cancellationToken);
        return new Host(transport, subscription, running, log);
    }

    private int ConsumersKnownTo(Host host) =>
        host.Transport.Farm.Members.ReceiversOf(_subscription.Endpoint).Count(receiver => receiver.Receiver.Epoch is not null);

    // Of the queue that has the fewest.
    private async Task<int> CountAsync(Subscription? subscription = null)
    {
        await using var connection = await _broker.ConnectAsync();
        await using var channel = await connection.CreateChannelAsync();
        var counts = new List<uint>();
        foreach (var queue in _broker.Names.LanesOf(subscription ?? _subscription))
            counts.Add((await channel.QueueDeclarePassiveAsync(queue)).ConsumerCount);
        return (int)counts.Min();
    }

    // Numbers of one key, from 0; how many.
    private static async Task<int> PublishAsync(RabbitMqTransport transport, CancellationToken ending)
    {
        var count = 0;
        for (; !ending.IsCancellationRequested; count++)
        {
            await transport.PublishAsync(
                EsbMessage.Create(MessageBody.FromText($"{count}"), TimeProvider.System) with
                {
                    Subject = "orders.accepted",
                    Key = "a",
                },
                CancellationToken.None
            );
            await Task.Delay(50, CancellationToken.None);
        }

        return count;
    }

    private sealed record Host(RabbitMqTransport Transport, Subscription Subscription, ITopicSubscription Running, LogLines Log)
        : IAsyncDisposable
    {
        public async ValueTask DisposeAsync()
        {
            await Running.DisposeAsync();
            await Transport.DisposeAsync();
        }
    }
}
