using Esb.Core.Planning;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Topology;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Planning;

/// <summary>Compares the queues that an endpoint requires with the existing ones.</summary>
internal sealed class EndpointPlan(BrokerSession session, Subscription subscription)
{
    private readonly QueueShape _wanted = QueueShape.Of(subscription);

    public async Task<IReadOnlyList<PlannedChange>> CompareAsync(CancellationToken cancellationToken)
    {
        var home = await session.Homes.FindAsync(session.Connection, subscription.Endpoint, cancellationToken);
        var (queues, record) = (home.Names, home.Record);
        var name = $"endpoint {subscription.Endpoint}";
        if (home.Stranger is { } stranger)
            return
            [
                new PlannedChange(
                    ChangeKind.Refuse,
                    name,
                    $"{QueueDriftException.OwnerCode}: {QueueDriftException.DescribeOwner(queues.Queue, stranger)}"
                ),
            ];
        if (record?.IsMigrating == true)
            return [new PlannedChange(ChangeKind.Migrate, name, "a migration has begun and is not finished")];
        var existing = record?.Shape ?? await GuessAsync(queues, cancellationToken);
        var waiting = await WaitingAsync(queues, existing, cancellationToken);
        if (waiting is null && !queues.AreOld)
            return [.. Queues.Select(queue => new PlannedChange(ChangeKind.Create, $"queue {queue}", Describe()))];

        var differences = _wanted.DifferencesFrom(existing);
        if (queues.AreOld)
            differences = [new ShapeDifference("name", queues.Queue, session.Names.New(subscription.Endpoint).Queue), .. differences];
        if (differences.Count > 0)
            return [new PlannedChange(ChangeKind.Migrate, name, $"{string.Join("; ", differences)}; {waiting ?? 0} messages wait")];
        var changes = new List<PlannedChange>();
        foreach (var queue in Queues)
            changes.Add(await PlanQueueAsync(queues, queue, cancellationToken));
        changes.AddRange(PlanBindings(record));
        return changes;
    }

    private IEnumerable<string> Queues => session.Names.New(subscription.Endpoint).Lanes(subscription.Lanes);

    // Without a record, the queue names show whether there are lanes; the other settings show when the queue is declared again.
    private async Task<QueueShape> GuessAsync(EndpointNames queues, CancellationToken cancellationToken)
    {
        var hasLanes = await session.Connection.HasQueueAsync(queues.Lane(0), cancellationToken);
        if (hasLanes == (_wanted.Lanes is not null))
            return _wanted;
        if (hasLanes)
            return _wanted with
            {
                Delivery = Core.Endpoints.DeliveryMode.OrderedByKey,
                Lanes = await CountLanesAsync(queues, cancellationToken),
            };
        return await session.Connection.HasQueueAsync(queues.Queue, cancellationToken)
            ? _wanted with
            {
                Delivery = Core.Endpoints.DeliveryMode.Parallel,
                Lanes = null,
            }
            : _wanted;
    }

    private async Task<int> CountLanesAsync(EndpointNames queues, CancellationToken cancellationToken)
    {
        var count = 1;
        while (await session.Connection.HasQueueAsync(queues.Lane(count), cancellationToken))
            count++;
        return count;
    }

    // Returns null if none of the queues exists.
    private async Task<long?> WaitingAsync(EndpointNames queues, QueueShape shape, CancellationToken cancellationToken)
    {
        long? waiting = null;
        foreach (var queue in queues.Lanes(shape.Lanes))
        {
            if (await session.Connection.CountAsync(queue, cancellationToken) is { } found)
                waiting = (waiting ?? 0) + found.MessageCount;
        }

        return waiting;
    }

    private async Task<PlannedChange> PlanQueueAsync(EndpointNames queues, string queue, CancellationToken cancellationToken)
    {
        if (await session.Connection.CountAsync(queue, cancellationToken) is not { } found)
            return new PlannedChange(ChangeKind.Create, $"queue {queue}", Describe());
        await using var channel = await session.Connection.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            await session.Topology.RedeclareAsync(channel, queues, queue, subscription, cancellationToken);
            return new PlannedChange(
                ChangeKind.Keep,
                $"queue {queue}",
                $"{found.MessageCount} messages wait, {found.ConsumerCount} consumers"
            );
        }
        catch (OperationInterruptedException ex) when (ex.ShutdownReason?.ReplyCode == Constants.PreconditionFailed)
        {
            return new PlannedChange(ChangeKind.Migrate, $"endpoint {subscription.Endpoint}", ex.ShutdownReason.ReplyText);
        }
    }

    private IEnumerable<PlannedChange> PlanBindings(EndpointRecord? record)
    {
        var bound = record?.Bound ?? new HashSet<string>();
        var wanted = EndpointRecord.PatternsOf(subscription);
        foreach (var pattern in wanted.Except(bound))
            yield return new PlannedChange(ChangeKind.Create, $"binding {subscription.Endpoint}", pattern);
        foreach (var pattern in bound.Except(wanted))
            yield return new PlannedChange(ChangeKind.Change, $"binding {subscription.Endpoint}", $"{pattern} ends when no host wants it");
    }

    private string Describe() =>
        (_wanted.Type == QueueType.Quorum ? "quorum" : "classic")
        + (subscription.SingleActive || _wanted.Lanes is not null ? ", single active consumer" : "");
}
