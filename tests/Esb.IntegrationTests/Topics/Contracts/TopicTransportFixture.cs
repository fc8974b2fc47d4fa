using System.Text;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>A transport of some kind, and what the tests of its contract do with it.</summary>
/// <remarks>Each part of the contract is a class of its own, and is inherited once for each kind of transport.</remarks>
public abstract class TopicTransportFixture(ITransportUnderTest underTest)
{
    /// <summary>Topics that exist in every test.</summary>
    private static readonly Dictionary<string, TopicConfig> Topics = new()
    {
        ["orders"] = new(),
        ["invoices"] = new(),
        ["prices"] = new() { Persistent = false },
    };

    /// <summary>The delay of the one rung that every subscription has.</summary>
    protected static readonly TimeSpan Rung = TimeSpan.FromMilliseconds(200);

    private readonly List<ITopicReader> _subscriptions = [];

    /// <summary>The transport under test.</summary>
    protected ITopicTransport Transport { get; private set; } = null!;

    /// <summary>What it keeps of messages that nobody wants.</summary>
    protected IUnroutableMessages Unroutable => underTest.UnroutableOf(Transport);

    [SetUp]
    public async Task StartTransport()
    {
        Transport = underTest.Create(Topics);
        await Transport.StartAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task StopTransport()
    {
        foreach (var subscription in _subscriptions)
            await subscription.DisposeAsync();
        _subscriptions.Clear();
        await Transport.DisposeAsync();
        await underTest.CleanUpAsync();
    }

    /// <summary>A transport of another host with the same topics; where there can be none, this one's.</summary>
    protected Task<ITopicTransport> OtherHostAsync() => underTest.OtherHostAsync(Transport);

    /// <summary>A message to be published.</summary>
    protected static EsbMessage Message(string subject, string body = "<order/>") => Message(subject, Encoding.UTF8.GetBytes(body));

    /// <summary>A message to be published.</summary>
    protected static EsbMessage Message(string subject, byte[] body) =>
        EsbMessage.Create(MessageBody.FromBytes(body), TimeProvider.System) with
        {
            Subject = subject,
        };

    /// <summary>A dead letter of a message.</summary>
    protected static DeadLetter Letter(EsbMessage message, string reason = "It does not work.") =>
        new(message, "the-endpoint", "ESB-TEST", reason, null, 1, DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch);

    /// <summary>What an endpoint of its own, named at random, wants.</summary>
    protected static Subscription Subscription(params string[] patterns) =>
        new(
            $"endpoint-{Guid.NewGuid():N}"[..20],
            [.. patterns.Select(pattern => SubjectPattern.Parse(pattern)!)],
            1,
            32,
            SingleActive: false,
            new QueueConfig(),
            [Rung]
        );

    /// <summary>Subscribes until the test ends.</summary>
    private protected Task<ITopicSubscription> SubscribeAsync(Inbox inbox, params string[] patterns) =>
        SubscribeAsync(inbox.HandleAsync, Subscription(patterns));

    /// <summary>Subscribes until the test ends.</summary>
    protected async Task<ITopicSubscription> SubscribeAsync(
        DeliveryHandler handler,
        Subscription subscription,
        ITopicTransport? host = null
    )
    {
        underTest.Note(subscription);
        var running = await (host ?? Transport).SubscribeAsync(subscription, handler, CancellationToken.None);
        _subscriptions.Add(running);
        Assert.That(running.IsLive, Is.True);
        return running;
    }

    /// <summary>Takes all dead letters until the test ends.</summary>
    protected async Task<System.Threading.Channels.Channel<DeadLetter>> ReadDeadLettersAsync()
    {
        var letters = System.Threading.Channels.Channel.CreateUnbounded<DeadLetter>();
        _subscriptions.Add(
            await Transport.ReadDeadLettersAsync((letter, token) => letters.Writer.WriteAsync(letter, token), CancellationToken.None)
        );
        return letters;
    }

    /// <summary>The bodies of what was delivered.</summary>
    protected static IEnumerable<string> Texts(IEnumerable<TopicDelivery> deliveries) =>
        deliveries.Select(delivery => delivery.Message.Body.ReadText());
}
