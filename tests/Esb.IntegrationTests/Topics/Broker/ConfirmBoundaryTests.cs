using System.Collections.Concurrent;
using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.Publishing;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>The connection breaks at each byte that matters around a confirm: nothing confirmed is missing, and nobody waits without
/// end.</summary>
[TestFixture, Category("Faults")]
public sealed class ConfirmBoundaryTests
{
    private static readonly Dictionary<string, TopicConfig> Topics = new() { ["orders"] = new() };
    private static readonly Cut[] Cuts = [Cut.BeforePublish, Cut.InBody, Cut.BeforeConfirm, Cut.InConfirm];
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(12);

    // dotnet test -- 'TestRunParameters.Parameter(name="runs", value="2000")'
    private static readonly int Runs = int.Parse(TestContext.Parameters.Get("runs", "64")!);

    private TestBroker _broker = null!;

    [SetUp]
    public void CreateBroker() => _broker = new TestBroker();

    [TearDown]
    public Task CleanUp() => _broker.CleanUpAsync();

    [Test, CancelAfter(1_800_000)]
    [Property("Case", "T-DEL-2")]
    public async Task A_cut_at_any_byte_around_the_confirm_ends_in_time_and_loses_nothing_confirmed(CancellationToken cancellationToken)
    {
        await using var reader = await ReaderAsync(cancellationToken);
        var runs = new ConcurrentBag<Run>();

        const int Publishers = 16;
        await Task.WhenAll(
            Enumerable.Range(0, Publishers).Select(publisher => PublishAsync(publisher, Runs / Publishers, runs, cancellationToken))
        );
        var confirmed = runs.Where(run => run.Outcome == PublishOutcome.Confirmed).ToList();
        await Eventually.HoldsAsync(() => confirmed.All(run => reader.Seen.ContainsKey(run.Id)), cancellationToken);
        foreach (var cut in runs.GroupBy(run => run.Cut).OrderBy(group => group.Key))
            TestContext.Out.WriteLine(
                $"{cut.Key}: {string.Join(", ", cut.GroupBy(run => run.Outcome).Select(group => $"{group.Count()} {group.Key}"))}, "
                    + $"arrived {cut.Count(run => reader.Seen.ContainsKey(run.Id))}, longest {cut.Max(run => run.Took).TotalSeconds:0.0} s"
            );

        Assert.That(runs, Has.Count.EqualTo(Runs));
        Assert.That(runs.Select(run => run.Took), Is.All.LessThan(Longest));
        Assert.That(confirmed.Where(run => !reader.Seen.ContainsKey(run.Id)), Is.Empty, "lost");
        Assert.That(reader.Seen.Keys.Except(runs.Select(run => run.Id)), Is.Empty, "unexpected");
        Assert.That(
            runs.Where(run => run.Cut != Cut.None).Select(run => run.Outcome),
            Is.All.EqualTo(PublishOutcome.Unknown),
            "a cut leaves nothing known"
        );
    }

    [Test, CancelAfter(120_000)]
    [Property("Case", "T-DEL-2")]
    public async Task Repeated_messages_of_a_key_arrive_in_the_order_of_their_confirms(CancellationToken cancellationToken)
    {
        await using var reader = await ReaderAsync(cancellationToken);
        await using var proxy = new BrokerProxy(Servers.RabbitMq);
        await using var transport = _broker.CreateTransport(Topics, url: proxy.Url);
        await transport.StartAsync(cancellationToken);
        var publisher = new OrderedPublisher(transport, TimeProvider.System);
        var confirmed = new ConcurrentQueue<Guid>();

        for (var round = 0; round < 8; round++)
        {
            proxy.CutNext(Cuts[round % Cuts.Length]);
            await Task.WhenAll(Enumerable.Range(0, 10).Select(_ => ConfirmAsync(Message() with { Key = "one" })));
        }

        await Eventually.HoldsAsync(() => confirmed.All(reader.Seen.ContainsKey), cancellationToken);
        Assert.That(confirmed, Has.Count.EqualTo(80));
        Assert.That(reader.Order.Distinct(), Is.EqualTo(confirmed));

        async Task ConfirmAsync(EsbMessage message)
        {
            await publisher.PublishAsync(message, cancellationToken);
            confirmed.Enqueue(message.Id);
        }
    }

    private async Task PublishAsync(int publisher, int count, ConcurrentBag<Run> runs, CancellationToken cancellationToken)
    {
        await using var proxy = new BrokerProxy(Servers.RabbitMq);
        await using var transport = _broker.CreateTransport(Topics, url: proxy.Url);
        await transport.StartAsync(cancellationToken);
        for (var i = 0; i < count; i++)
        {
            await Eventually.HoldsAsync(() => transport.Status.IsReady, cancellationToken);
            var cut = Cuts[(publisher + i) % Cuts.Length];
            proxy.CutNext(cut);
            var message = Message();
            var started = Stopwatch.GetTimestamp();
            var result = await transport.PublishAsync(message, cancellationToken);
            runs.Add(new Run(message.Id, cut, result.Outcome, Stopwatch.GetElapsedTime(started)));
        }
    }

    private async Task<Reader> ReaderAsync(CancellationToken cancellationToken)
    {
        var transport = _broker.CreateTransport(Topics);
        await transport.StartAsync(cancellationToken);
        var subscription = new Subscription(
            $"endpoint-{Guid.NewGuid():N}"[..20],
            [SubjectPattern.Parse("orders.#")!],
            1,
            32,
            SingleActive: true,
            new QueueConfig(),
            []
        );
        _broker.Note(subscription);
        var reader = new Reader(transport);
        reader.Running = await transport.SubscribeAsync(subscription, reader.HandleAsync, cancellationToken);
        return reader;
    }

    private static EsbMessage Message() =>
        EsbMessage.Create(MessageBody.FromBytes(new byte[2_000]), TimeProvider.System) with
        {
            Subject = "orders.accepted",
        };

    private sealed record Run(Guid Id, Cut Cut, PublishOutcome Outcome, TimeSpan Took);

    private sealed class Reader(ITopicTransport transport) : IAsyncDisposable
    {
        public ConcurrentDictionary<Guid, bool> Seen { get; } = new();

        public ConcurrentQueue<Guid> Order { get; } = new();

        public ITopicSubscription Running { get; set; } = null!;

        public ValueTask<Settlement> HandleAsync(TopicDelivery delivery, CancellationToken cancellationToken)
        {
            Order.Enqueue(delivery.Message.Id);
            Seen[delivery.Message.Id] = true;
            return ValueTask.FromResult(Settlement.Done);
        }

        public async ValueTask DisposeAsync()
        {
            await Running.DisposeAsync();
            await transport.DisposeAsync();
        }
    }
}
