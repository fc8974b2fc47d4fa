using System.Text;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics;

/// <summary>A transport on a broker, and a foreign client beside it that knows nothing of us.</summary>
public abstract class BrokerFixture
{
    private readonly List<IAsyncDisposable> _running = [];

    private protected static readonly IReadOnlyDictionary<string, TopicConfig> Topics = new Dictionary<string, TopicConfig>
    {
        ["orders"] = new(),
        ["prices"] = new() { Persistent = false },
    };

    private protected TestBroker Broker { get; private set; } = null!;

    private protected LogLines Log { get; private set; } = null!;

    private protected RabbitMqTransport Transport { get; private set; } = null!;

    private protected IChannel Foreign { get; private set; } = null!;

    [SetUp]
    public async Task Connect()
    {
        Broker = new TestBroker();
        Log = new LogLines();
        Transport = Broker.CreateTransport(Topics, maxBodyBytes: 100_000, Log.Factory);
        await Transport.StartAsync(CancellationToken.None);
        var connection = await Broker.ConnectAsync();
        _running.Add(connection);
        Foreign = await connection.CreateChannelAsync(
            new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true)
        );
    }

    [TearDown]
    public async Task CleanUp()
    {
        foreach (var part in _running.AsEnumerable().Reverse())
            await part.DisposeAsync();
        _running.Clear();
        await Transport.DisposeAsync();
        await Broker.CleanUpAsync();
    }

    private protected static EsbMessage Message(string subject, string body = "<order/>") =>
        EsbMessage.Create(MessageBody.FromText(body), TimeProvider.System) with
        {
            Subject = subject,
        };

    private protected static Subscription Subscription(params string[] patterns) =>
        new(
            $"endpoint-{Guid.NewGuid():N}"[..20],
            [.. patterns.Select(pattern => SubjectPattern.Parse(pattern)!)],
            1,
            32,
            SingleActive: false,
            new QueueConfig(),
            [TimeSpan.FromMilliseconds(200)]
        );

    private protected Task<ITopicSubscription> SubscribeAsync(Inbox inbox, params string[] patterns) =>
        SubscribeAsync(inbox.HandleAsync, Subscription(patterns));

    private protected async Task<ITopicSubscription> SubscribeAsync(DeliveryHandler handler, Subscription subscription)
    {
        Broker.Note(subscription);
        var running = await Transport.SubscribeAsync(subscription, handler, CancellationToken.None);
        _running.Add(running);
        return running;
    }

    private protected async Task<DeadLetter> NextDeadLetterAsync(CancellationToken cancellationToken, RabbitMqTransport? host = null)
    {
        var next = new TaskCompletionSource<DeadLetter>();
        await using var reading = await (host ?? Transport).ReadDeadLettersAsync(
            (letter, _) =>
            {
                next.TrySetResult(letter);
                return ValueTask.CompletedTask;
            },
            cancellationToken
        );
        return await next.Task.WaitAsync(cancellationToken);
    }

    /// <summary>Publishes as a program in any language would.</summary>
    private protected async Task PublishForeignAsync(string routingKey, BasicProperties properties, string body = "foreign") =>
        await Foreign.BasicPublishAsync(
            Broker.Names.Topic(Subject.TopicOf(routingKey)),
            routingKey,
            mandatory: false,
            properties,
            Encoding.UTF8.GetBytes(body)
        );

    private protected async Task<BasicGetResult> GetForeignAsync(string queue, CancellationToken cancellationToken)
    {
        while (true)
        {
            if (await Foreign.BasicGetAsync(queue, autoAck: true, cancellationToken) is { } found)
                return found;
            await Task.Delay(20, cancellationToken);
        }
    }
}
