using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq;

namespace Esb.IntegrationTests.Topics.Broker;

/// <summary>Tests on a broker of their own, which they may stop, kill and change.</summary>
[Category("Faults")]
public abstract class PrivateBrokerTests
{
    protected static readonly Dictionary<string, TopicConfig> Topics = new() { ["orders"] = new() };

    private protected PrivateServers OwnServers { get; private set; } = null!;

    private protected RabbitMqTransport Transport { get; private set; } = null!;

    private protected LogLines Log { get; private set; } = null!;

    [OneTimeSetUp]
    public async Task StartServers() => OwnServers = await PrivateServers.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await OwnServers.DisposeAsync();

    [SetUp]
    public void CreateTransport()
    {
        Log = new LogLines();
        Transport = new TestBroker(OwnServers.RabbitMq).CreateTransport(Topics, loggers: Log.Factory);
    }

    [TearDown]
    public async Task StopTransport() => await Transport.DisposeAsync();

    protected static EsbMessage Message(string body) =>
        EsbMessage.Create(MessageBody.FromText(body), TimeProvider.System) with
        {
            Subject = "orders.accepted",
        };

    protected static Subscription Subscription() =>
        new(
            $"endpoint-{Guid.NewGuid():N}"[..20],
            [SubjectPattern.Parse("orders.#")!],
            1,
            32,
            SingleActive: false,
            new QueueConfig(),
            [TimeSpan.FromSeconds(1)]
        );

    protected async Task ConfirmAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        while ((await Transport.PublishAsync(message, cancellationToken)).Outcome != PublishOutcome.Confirmed)
            await Task.Delay(50, cancellationToken);
    }
}
