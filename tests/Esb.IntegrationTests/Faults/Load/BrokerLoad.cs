using System.Text;
using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Ledgers;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Faults.Load;

/// <summary>Publishes to a topic as a foreign client does, past the hosts: what befalls these does not befall it. What the broker has
/// confirmed is accepted.</summary>
internal sealed class BrokerLoad(FaultBench bench)
{
    /// <summary>Ends when something else is done.</summary>
    public async Task RunAsync(int rate, Task until, CancellationToken cancellationToken)
    {
        var random = new Random(FaultBench.Seed);
        await using var connection = await bench.ConnectToBrokerAsync();
        await using var channel = await connection.CreateChannelAsync(
            new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true),
            cancellationToken
        );
        for (var sequence = 1; !until.IsCompleted; sequence++)
        {
            var id = $"published-{sequence}";
            var body = FaultBody.Make(id, random.Next(100, 1_024), random);
            var message = new SentMessage(id, "published", sequence, "work.item", FaultBody.HashOf(body), TimeProvider.System.GetUtcNow())
            {
                MessageId = Guid.CreateVersion7(),
            };
            await bench.Ledger.BeginAsync(message);
            var properties = new BasicProperties
            {
                MessageId = $"{message.MessageId}",
                Persistent = true,
                ContentType = "text/plain",
                Headers = new Dictionary<string, object?> { [FaultHeaders.Id] = id },
            };
            await channel.BasicPublishAsync(
                $"{bench.Name}.topics.work",
                message.Subject,
                mandatory: true,
                properties,
                Encoding.UTF8.GetBytes(body),
                cancellationToken
            );
            await bench.Ledger.EndAsync(message with { Outcome = SendOutcome.Confirmed, OutcomeAt = TimeProvider.System.GetUtcNow() });
            await Task.Delay(TimeSpan.FromSeconds(1.0 / rate), cancellationToken);
        }
    }
}
