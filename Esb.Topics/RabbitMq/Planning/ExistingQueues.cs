using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Planning;

/// <summary>The existing queues of an endpoint, to be emptied and deleted.</summary>
internal sealed class ExistingQueues(BrokerSession session, EndpointNames names, EndpointRecord record)
{
    // Messages that wait for another attempt come first: their delay may end any moment, which moves them into the queue.
    private IEnumerable<string> Queues =>
        record.Delays.Select(delay => names.Rung(TimeSpan.FromMilliseconds(delay))).Concat(names.Lanes(record.Shape.Lanes));

    /// <exception cref="EsbException"><c>ESB-PLAN-BUSY</c>.</exception>
    public async Task RefuseConsumersAsync(CancellationToken cancellationToken)
    {
        foreach (var queue in Queues)
        {
            if (await session.Connection.CountAsync(queue, cancellationToken) is { ConsumerCount: > 0 })
                throw Busy(
                    $"Somebody consumes the queue of '{names.Endpoint}' who was not reached: a host of another name or an older "
                        + $"version, or one that stands still. Stop it, or wait until it is missed, and apply again."
                );
        }
    }

    /// <summary>Returns the number of messages that wait in them.</summary>
    public async Task<long> CountAsync(CancellationToken cancellationToken)
    {
        var waiting = 0L;
        foreach (var queue in Queues)
            waiting += (await session.Connection.CountAsync(queue, cancellationToken))?.MessageCount ?? 0;
        return waiting;
    }

    public async Task UnbindAsync(CancellationToken cancellationToken)
    {
        foreach (var pattern in record.Bound.Select(SubjectPattern.Parse).OfType<SubjectPattern>())
        {
            await using var channel = await session.Connection.CreateChannelAsync(cancellationToken: cancellationToken);
            var (target, topic) = (names.Queue, session.Names.Topic(pattern.Topic));
            if (record.Shape.Lanes is null)
                await channel.QueueUnbindAsync(target, topic, pattern.Value, cancellationToken: cancellationToken);
            else
                await channel.ExchangeUnbindAsync(target, topic, pattern.Value, cancellationToken: cancellationToken);
        }
    }

    public async Task<int> MoveAllAsync(MessageMover mover, string target, CancellationToken cancellationToken)
    {
        var moved = 0;
        foreach (var queue in Queues)
        {
            if (await session.Connection.HasQueueAsync(queue, cancellationToken))
                moved += await mover.MoveAsync(queue, ToAsideAsync, cancellationToken);
        }

        return moved;

        ValueTask<PublishResult> ToAsideAsync(WireMessage wire, BasicProperties properties, string subject, string? key) =>
            session.Publisher.SendAsync("", target, key: "", properties, wire.Body);
    }

    /// <summary>Deletes them; fails if one has consumers or is not empty.</summary>
    /// <param name="made">The names of the new queues.</param>
    /// <param name="wanted">
    /// The subscription of the new queues. Queues for delays that it also has are kept: the broker does not count messages that were
    /// refused at the end of their delay for three minutes, and then tries them again.
    /// </param>
    /// <param name="cancellationToken">Stops between two queues.</param>
    public async Task DeleteAsync(EndpointNames made, Subscription wanted, CancellationToken cancellationToken)
    {
        var kept = wanted.Lanes is null ? wanted.RetryDelays.Select(made.Rung).ToHashSet() : [];
        await using var channel = await session.Connection.CreateChannelAsync(cancellationToken: cancellationToken);
        foreach (var queue in Queues.Where(queue => !kept.Contains(queue)))
        {
            var count = await session.Connection.CountAsync(queue, cancellationToken);
            if (count?.MessageCount > 0)
                throw Busy($"The queue {queue} got another message. Nothing is lost: apply again.");
            if (count?.ConsumerCount > 0) // a quorum queue also counts cancelled consumers and getters with unsettled messages
                throw Busy(
                    $"Somebody has messages of the queue {queue}. Nothing is lost: stop him, or wait until he is missed, and apply again."
                );
            // the broker knows no conditions for quorum queues
            await channel.QueueDeleteAsync(queue, ifUnused: false, ifEmpty: false, cancellationToken: cancellationToken);
        }

        // of lanes, or the empty one that the bus declares
        await channel.ExchangeDeleteAsync(names.Queue, cancellationToken: cancellationToken);
        await channel.ExchangeDeleteAsync(names.Keys, cancellationToken: cancellationToken);
    }

    private static EsbException Busy(string message) => new("ESB-PLAN-BUSY", message, FaultKind.Invalid);
}
