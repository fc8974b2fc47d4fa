using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Unroutable;

/// <summary>The queue behind the alternate exchange of all topics. Inspected messages are not acknowledged, and return to their place when
/// the channel closes.</summary>
internal sealed partial class UnroutableQueue(
    BrokerConnection consuming,
    ConfirmedPublisher publisher,
    RabbitMqNames names,
    WireReader reader,
    KnownTopics topics,
    TimeProvider time,
    ILogger logger
) : IUnroutableMessages
{
    public Task<UnroutableSummary> SummarizeAsync(int peek, CancellationToken cancellationToken) =>
        AskAsync(
            cancellationToken,
            async channel =>
            {
                var count = await channel.MessageCountAsync(names.Unroutable, cancellationToken);
                var peeked = new List<(string Subject, DateTimeOffset CreatedAt)>();
                while (peeked.Count < peek && await channel.BasicGetAsync(names.Unroutable, autoAck: false, cancellationToken) is { } found)
                    peeked.Add((found.RoutingKey, CreatedAt(found.BasicProperties)));
                return new UnroutableSummary(count, peeked.Count, UnroutableSubjects.Of(peeked));
            }
        );

    public Task<UnroutableReplay> ReplayAsync(string? subject, int limit, CancellationToken cancellationToken) =>
        AskAsync(
            cancellationToken,
            async channel =>
            {
                await using var echo = await UnroutableEcho.OpenAsync(Connection, names, cancellationToken);
                // returning copies go to the end: none is met twice
                var left = await channel.MessageCountAsync(names.Unroutable, cancellationToken);
                var (replayed, unroutable) = (0, new SortedSet<string>(StringComparer.Ordinal));
                for (; left > 0 && replayed < limit; left--)
                {
                    if (await channel.BasicGetAsync(names.Unroutable, autoAck: false, cancellationToken) is not { } found)
                        break;
                    if ((subject is not null && found.RoutingKey != subject) || unroutable.Contains(found.RoutingKey))
                        continue;
                    if (!topics.Contains(Subject.TopicOf(found.RoutingKey)))
                    {
                        unroutable.Add(found.RoutingKey); // a topic of another configuration, or of an earlier one
                        continue;
                    }

                    if (await FoundQueueAsync(found, echo, cancellationToken))
                        replayed++;
                    else
                        unroutable.Add(found.RoutingKey);
                    await channel.BasicAckAsync(found.DeliveryTag, multiple: false, cancellationToken); // a copy is in some queue
                }

                LogReplayed(replayed, unroutable.Count);
                return new UnroutableReplay(replayed, [.. unroutable]);
            }
        );

    private IConnection Connection => consuming.Current ?? throw TopicFaults.NotAnswered(consuming.Obstacle ?? BrokerFault.Away);

    private async Task<bool> FoundQueueAsync(BasicGetResult found, UnroutableEcho echo, CancellationToken cancellationToken)
    {
        var token = Guid.NewGuid().ToString();
        var properties = WireWriter.Again(found.BasicProperties, reader.PartyOf(found.BasicProperties, found.Body), token);
        var key = found.BasicProperties.Headers.Text(Core.Messages.EsbHeaders.Key);
        var result = await publisher.PublishAsync(names.TopicOf(found.RoutingKey), found.RoutingKey, key, properties, found.Body);
        if (result.Outcome != PublishOutcome.Confirmed)
            throw TopicFaults.Unavailable(found.RoutingKey, result); // unacknowledged: it stays
        return !await echo.HeardAsync(token, cancellationToken);
    }

    private async Task<T> AskAsync<T>(CancellationToken cancellationToken, Func<IChannel, Task<T>> ask)
    {
        try
        {
            await using var channel = await Connection.CreateChannelAsync();
            return await ask(channel);
        }
        catch (Exception ex) when (ex is OperationInterruptedException or IOException or TimeoutException or ObjectDisposedException)
        {
            throw TopicFaults.NotAnswered(BrokerFault.Describe(ex));
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw TopicFaults.NotAnswered($"it took longer than {RabbitMqAddress.Patience.TotalSeconds:0} s");
        }
    }

    private DateTimeOffset CreatedAt(IReadOnlyBasicProperties properties) =>
        (properties.IsTimestampPresent() ? HeaderTable.TimeOf(properties.Timestamp) : null) ?? time.GetUtcNow();

    [LoggerMessage(
        EventId = 1554,
        Level = LogLevel.Information,
        Message = "{Count} unroutable messages were replayed; still no endpoint subscribes to {Subjects} of their subjects"
    )]
    private partial void LogReplayed(int count, int subjects);
}
