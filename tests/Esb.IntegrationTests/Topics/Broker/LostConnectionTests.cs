using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>What is told of requests and deliveries whose connection is lost while they are under way.</summary>
[CancelAfter(60_000)]
public sealed class LostConnectionTests
{
    private static readonly Dictionary<string, TopicConfig> Topics = new() { ["orders"] = new() };

    private TestBroker _broker = null!;
    private BrokerProxy _proxy = null!;
    private RabbitMqTransport _transport = null!;

    [SetUp]
    public async Task Connect()
    {
        (_broker, _proxy) = (new TestBroker(), new BrokerProxy(Servers.RabbitMq));
        _transport = _broker.CreateTransport(Topics, url: _proxy.Url);
        await _transport.StartAsync(CancellationToken.None);
        await Eventually.HoldsAsync(() => _transport.Status.IsReady, CancellationToken.None);
    }

    [TearDown]
    public async Task CleanUp()
    {
        await _proxy.DisposeAsync();
        await _transport.DisposeAsync();
        await _broker.CleanUpAsync();
    }

    [Test, Category("Thorough")]
    public async Task Requester_hears_that_nobody_can_tell_what_became_of_its_request(CancellationToken cancellationToken)
    {
        var begun = new TaskCompletionSource();
        await using var subscription = await SubscribeAsync(
            async (_, _) =>
            {
                begun.TrySetResult();
                await Task.Delay(TimeSpan.FromSeconds(3), CancellationToken.None); // long enough to lose the connection in
                return Settlement.Done;
            },
            lanes: null,
            cancellationToken
        );

        var request = _transport.RequestAsync(Message(), TimeSpan.FromSeconds(50), cancellationToken);
        await begun.Task.WaitAsync(cancellationToken);
        await _proxy.CutAllAsync();

        Assert.That((await CatchAsync(request)).Code, Is.EqualTo("ESB-TOPIC-UNKNOWN"));
    }

    [Test]
    public async Task Who_asks_again_under_the_same_id_waits_as_long_as_it_wants_itself(CancellationToken cancellationToken)
    {
        await using var subscription = await SubscribeAsync(
            (_, _) => ValueTask.FromResult(Settlement.Done),
            lanes: null,
            cancellationToken
        );
        var message = Message();
        using var gone = new CancellationTokenSource();

        var first = _transport.RequestAsync(message, TimeSpan.FromSeconds(50), gone.Token);
        var second = _transport.RequestAsync(message, TimeSpan.FromSeconds(2), cancellationToken);
        await gone.CancelAsync();

        Assert.ThrowsAsync<TaskCanceledException>(() => first);
        Assert.That((await CatchAsync(second)).Code, Is.EqualTo("ESB-REQUEST-TIMEOUT"));
    }

    [Test, Category("Thorough")]
    public async Task Delivery_that_comes_again_to_the_process_that_had_it_is_no_suspect(
        [Values(null, 8)] int? lanes,
        CancellationToken cancellationToken
    )
    {
        var (first, again) = (new TaskCompletionSource(), new TaskCompletionSource<int>());
        await using var subscription = await SubscribeAsync(
            async (delivery, token) =>
            {
                if (first.TrySetResult())
                    await Task.Delay(Timeout.InfiniteTimeSpan, token);
                else
                    again.TrySetResult(delivery.Redeliveries);
                return Settlement.Done;
            },
            lanes,
            cancellationToken
        );
        await _transport.PublishAsync(Message(), cancellationToken);
        await first.Task.WaitAsync(cancellationToken);

        await _proxy.CutAllAsync();

        Assert.That(await again.Task.WaitAsync(cancellationToken), Is.Zero);
    }

    private Task<ITopicSubscription> SubscribeAsync(DeliveryHandler handler, int? lanes, CancellationToken cancellationToken)
    {
        var subscription = new Subscription(
            "an-endpoint",
            [SubjectPattern.Parse("orders.#")!],
            1,
            32,
            SingleActive: false,
            new QueueConfig(),
            []
        )
        {
            Lanes = lanes,
        };
        _broker.Note(subscription);
        return _transport.SubscribeAsync(subscription, handler, cancellationToken);
    }

    private static async Task<EsbException> CatchAsync(Task request)
    {
        try
        {
            await request;
            throw new InvalidOperationException("The request was answered.");
        }
        catch (EsbException ex)
        {
            return ex;
        }
    }

    private static EsbMessage Message() =>
        EsbMessage.Create(MessageBody.FromText("<order/>"), TimeProvider.System) with
        {
            Subject = "orders.accepted",
            Key = "k",
        };
}
