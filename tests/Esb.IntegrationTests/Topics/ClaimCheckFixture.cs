using System.Text;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Storage;
using Esb.Storage.Files.Claims;
using Esb.Topics.RabbitMq;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics;

/// <summary>A transport whose large bodies are kept in a folder, and a foreign client beside it.</summary>
public abstract class ClaimCheckFixture
{
    private protected static readonly IReadOnlyDictionary<string, TopicConfig> Topics = new Dictionary<string, TopicConfig>
    {
        ["orders"] = new(),
        ["foreign"] = new() { ClaimCheck = false },
    };

    private protected static readonly string Large = new('x', 2_000);

    private protected List<IAsyncDisposable> Running { get; } = [];

    private protected DirectoryInfo Folder { get; private set; } = null!;

    private protected TestBroker Broker { get; private set; } = null!;

    private protected RabbitMqTransport Transport { get; private set; } = null!;

    private protected IChannel Foreign { get; private set; } = null!;

    [SetUp]
    public async Task Connect()
    {
        Folder = Directory.CreateTempSubdirectory("esb-");
        Broker = new TestBroker();
        Transport = Broker.CreateTransport(
            Topics,
            claims: new FolderClaimCheckStore(Folder.FullName, TimeSpan.FromDays(30), TimeProvider.System),
            largestWhole: 1_000
        );
        await Transport.StartAsync(CancellationToken.None);
        var connection = await Broker.ConnectAsync();
        Running.Add(connection);
        Foreign = await connection.CreateChannelAsync();
    }

    [TearDown]
    public async Task CleanUp()
    {
        foreach (var part in Running.AsEnumerable().Reverse())
            await part.DisposeAsync();
        Running.Clear();
        await Transport.DisposeAsync();
        await Broker.CleanUpAsync();
        Folder.Delete(recursive: true);
    }

    private protected static EsbMessage Message(string subject, string body) =>
        EsbMessage.Create(MessageBody.FromText(body), TimeProvider.System) with
        {
            Subject = subject,
            Headers = MessageHeaders.Empty.With("x-a", "1"),
        };

    private protected static Subscription Subscription(string pattern) =>
        new(
            $"endpoint-{Guid.NewGuid():N}"[..20],
            [SubjectPattern.Parse(pattern)!],
            1,
            32,
            SingleActive: false,
            new QueueConfig(),
            [TimeSpan.FromMilliseconds(200)]
        );

    private protected async Task<Inbox> SubscribeAsync(Subscription subscription, Func<TopicDelivery, Settlement>? settle = null)
    {
        var inbox = new Inbox(settle);
        Broker.Note(subscription);
        Running.Add(await Transport.SubscribeAsync(subscription, inbox.HandleAsync, CancellationToken.None));
        return inbox;
    }

    private protected async Task<DeadLetter> NextDeadLetterAsync(CancellationToken cancellationToken)
    {
        var next = new TaskCompletionSource<DeadLetter>();
        await using var reading = await Transport.ReadDeadLettersAsync(
            (letter, _) => next.TrySetResult(letter) ? ValueTask.CompletedTask : throw new InvalidOperationException("One at a time."),
            cancellationToken
        );
        return await next.Task.WaitAsync(cancellationToken);
    }

    private protected async Task<string> ListenAsync(string pattern, CancellationToken cancellationToken)
    {
        var queue = (await Foreign.QueueDeclareAsync(cancellationToken: cancellationToken)).QueueName;
        await Foreign.QueueBindAsync(queue, Broker.Names.Topic(Subject.TopicOf(pattern)), pattern, cancellationToken: cancellationToken);
        return queue;
    }

    private protected async Task PublishForeignAsync(string routingKey, BasicProperties properties, string body) =>
        await Foreign.BasicPublishAsync(
            Broker.Names.Topic(Subject.TopicOf(routingKey)),
            routingKey,
            mandatory: false,
            properties,
            Encoding.UTF8.GetBytes(body)
        );

    private protected async Task<BasicGetResult> GetAsync(string queue, CancellationToken cancellationToken)
    {
        while (true)
        {
            if (await Foreign.BasicGetAsync(queue, autoAck: true, cancellationToken) is { } found)
                return found;
            await Task.Delay(20, cancellationToken);
        }
    }
}
