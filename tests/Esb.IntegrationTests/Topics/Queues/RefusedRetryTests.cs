using Esb.Core.Topics;
using Esb.Topics.RabbitMq;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Planning;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Queues;

/// <summary>Messages whose delay is over and whose queue is full: the broker tries again after three minutes, and counts them nowhere until
/// then.</summary>
[TestFixture, Category("Faults"), Category("WaitsLong")]
public sealed class RefusedRetryTests : BrokerFixture
{
    private static readonly TimeSpan Delay = TimeSpan.FromSeconds(1);

    [Test, CancelAfter(400_000)]
    public async Task A_migration_to_a_larger_queue_keeps_them(CancellationToken cancellationToken)
    {
        var before = Subscription("orders.#") with
        {
            RetryDelays = [Delay],
            Queue = new QueueConfig { MaxLength = 5 },
        };
        var after = before with { Queue = new QueueConfig { MaxLength = 100 } };
        Broker.Note(after);
        await (await SubscribeAsync(new Inbox().HandleAsync, before)).DisposeAsync();
        for (var i = 0; i < 5; i++)
            await PublishForeignAsync("orders.accepted", Persistent(), $"{i}");
        for (var i = 5; i < 8; i++)
            await Foreign.BasicPublishAsync(
                "",
                Broker.Names.Rung(before.Endpoint, Delay),
                mandatory: true,
                Persistent(),
                System.Text.Encoding.UTF8.GetBytes($"{i}"),
                cancellationToken
            );
        await Eventually.HoldsAsync(
            async () => await Foreign.MessageCountAsync(Broker.Names.Rung(before.Endpoint, Delay), cancellationToken) == 0,
            cancellationToken
        );

        await using var session = await BrokerSession.OpenAsync(
            new RabbitMqTransportConfig { Url = Servers.RabbitMq, Prefix = Broker.Prefix },
            TestBroker.Configuration,
            [.. Topics.Keys],
            TimeProvider.System,
            cancellationToken
        );
        await new QueueMigration(session, after, new NoUsers(), TestContext.Out.WriteLine, TimeProvider.System).RunAsync(cancellationToken);
        var inbox = new Inbox();
        await SubscribeAsync(inbox.HandleAsync, after);

        Assert.That(
            (await inbox.NextAsync(8, cancellationToken)).Select(delivery => delivery.Message.Body.ReadText()).Order(),
            Is.EqualTo(new[] { "0", "1", "2", "3", "4", "5", "6", "7" })
        );
    }

    private static BasicProperties Persistent() => new() { MessageId = $"{Guid.NewGuid()}", Persistent = true };
}
