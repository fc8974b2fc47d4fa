using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Planning;

/// <summary>Replaces the queues of an endpoint by others, with all their messages in order; their users release them meanwhile.</summary>
/// <remarks>
/// Messages published meanwhile collect in a separate queue. For the final switch, publishers are held back for about two seconds. If the
/// new queue has a length limit, they are also held back at the beginning, while the waiting messages are counted. Each step can be
/// repeated: a migration that was stopped continues at the next call, and until it is finished no host consumes. No message is lost. A
/// message may arrive twice, with the same id, if the move was interrupted or a foreign client published it at the very moment of the
/// switch.
/// </remarks>
internal sealed class QueueMigration(
    BrokerSession session,
    Subscription subscription,
    IQueueUsers users,
    Action<string> tell,
    TimeProvider time
)
{
    private static readonly TimeSpan Quiet = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(60);

    // Message counts that take about one second to move, and a few seconds.
    private const int FewWaiting = 500;
    private const int MostWhileHeld = 5_000;

    private const int MaxLooks = 5;

    // The broker does not count a message that a full queue refused at the end of its delay, and offers it again after three minutes.
    private static readonly TimeSpan RefusedComeAgain = TimeSpan.FromSeconds(200);
    private static readonly TimeSpan RefusedInterval = TimeSpan.FromSeconds(5);

    private MessageMover _aside = new(session, subscription.Endpoint);
    private MessageMover _back = new(session, subscription.Endpoint);
    private EndpointNames _from = session.Names.New(subscription.Endpoint);
    private EndpointNames _to = session.Names.New(subscription.Endpoint);

    private string Endpoint => subscription.Endpoint;

    private string Backlog => _from.Backlog;

    private string Meanwhile => _from.Meanwhile;

    private bool IsMove => _from != _to;

    public async Task RunAsync(CancellationToken cancellationToken)
    {
        var record = await FindAsync(cancellationToken);
        try
        {
            await users.LetGoAsync(cancellationToken);
            await MigrateAsync(record, cancellationToken);
            if (_to.AreOld)
                await MigrateAsync(await FindAsync(cancellationToken), cancellationToken);
        }
        finally
        {
            await users.GoOnAsync();
        }
    }

    // A migration that release 0.1 began is finished first, under its names.
    private async Task<EndpointRecord> FindAsync(CancellationToken cancellationToken)
    {
        var home = await session.Homes.FindAsync(session.Connection, Endpoint, cancellationToken);
        if (home.Stranger is { } stranger)
            throw new EsbException(
                QueueDriftException.OwnerCode,
                QueueDriftException.DescribeOwner(home.Names.Queue, stranger),
                FaultKind.Invalid
            );
        var record = home.Record ?? throw Impossible();
        (_aside, _back) = (new MessageMover(session, Endpoint), new MessageMover(session, Endpoint)); // they remember what they moved
        _from = home.Names;
        _to = record is { IsMigrating: true, IsMoving: false } ? _from : session.Names.New(Endpoint);
        if (IsMove || _to.AreOld)
            users.RefuseOldHosts();
        return record with { Owner = session.Names.Configuration };
    }

    private async Task MigrateAsync(EndpointRecord record, CancellationToken cancellationToken)
    {
        var existing = new ExistingQueues(session, _from, record);
        await existing.RefuseConsumersAsync(cancellationToken);
        await DivertAsync(existing, record, cancellationToken);
        if (!record.IsEmptied)
        {
            await existing.RefuseConsumersAsync(cancellationToken); // consumers that started before the record forbade it
            await existing.UnbindAsync(cancellationToken);
            await EmptyAsync(existing, record, cancellationToken);
            await WriteAsync(
                _from,
                record with
                {
                    Shape = QueueShape.Of(subscription),
                    Delays = [],
                    IsMigrating = true,
                    IsMoving = IsMove,
                    IsEmptied = true,
                },
                cancellationToken
            );
        }

        await RefillAsync(record, cancellationToken);
        tell($"{Endpoint}: migrated");
    }

    // Replays and released lines go to the queues directly: none may arrive between the last check and the end.
    private async Task EmptyAsync(ExistingQueues existing, EndpointRecord record, CancellationToken cancellationToken)
    {
        var moved = await existing.MoveAllAsync(_aside, Backlog, cancellationToken);
        if (IsMove && record is { Delays.Count: > 0, Shape.MaxLength: not null })
            moved += await AwaitRefusedAsync(existing, cancellationToken);
        await using (await users.HoldPublishesAsync([_from.Queue], cancellationToken))
        {
            moved += await existing.MoveAllAsync(_aside, Backlog, cancellationToken);
            await existing.DeleteAsync(_to, subscription, cancellationToken);
        }

        tell($"{Endpoint}: {moved} messages set aside, in their order");
    }

    // The queues for delays are deleted as well. If only settings change, those required again are kept.
    private async Task<int> AwaitRefusedAsync(ExistingQueues existing, CancellationToken cancellationToken)
    {
        tell($"{Endpoint}: waiting {RefusedComeAgain.TotalSeconds:0} s for what its full queue may have refused");
        var moved = 0;
        for (var began = time.GetTimestamp(); time.GetElapsedTime(began) < RefusedComeAgain; )
        {
            await Task.Delay(RefusedInterval, time, cancellationToken);
            moved += await existing.MoveAllAsync(_aside, Backlog, cancellationToken);
        }

        return moved;
    }

    // From now on all published messages are kept in a separate queue; the old queues receive them as well until they are unbound.
    private async Task DivertAsync(ExistingQueues existing, EndpointRecord record, CancellationToken cancellationToken)
    {
        var isShort = subscription.Queue.MaxLength is not null && !record.IsMigrating;
        // keeps messages out until the queue exists
        await using var hold = isShort ? await users.HoldPublishesAsync(TopicsOf(record), cancellationToken) : null;
        var room = isShort ? RoomBeside(await existing.CountAsync(cancellationToken)) : null;
        await using var channel = await session.Connection.CreateChannelAsync(cancellationToken: cancellationToken);
        await session.Topology.DeclareAsideAsync(channel, Backlog, room: null, cancellationToken);
        if (!await session.Connection.HasQueueAsync(Meanwhile, cancellationToken))
            await session.Topology.DeclareAsideAsync(channel, Meanwhile, room, cancellationToken);
        await WriteAsync(_from, record with { IsMigrating = true, IsMoving = IsMove }, cancellationToken);
        foreach (var pattern in Patterns(record))
            await channel.QueueBindAsync(
                Meanwhile,
                session.Names.Topic(pattern.Topic),
                pattern.Value,
                cancellationToken: cancellationToken
            );
    }

    // Messages for which the new queue will have no room beside the waiting ones are refused now. A quorum queue takes a few more than its
    // limit.
    private long? RoomBeside(long waiting)
    {
        var room = (subscription.Queue.MaxLength ?? long.MaxValue) - waiting;
        if (room > 0)
            return subscription.Queue.Overflow == QueueOverflow.RejectPublish ? Math.Max(room * 9 / 10, 1) : null;
        throw new EsbException(
            "ESB-PLAN-LENGTH",
            $"{waiting} messages wait for '{Endpoint}', and queue.maxLength is {subscription.Queue.MaxLength}: with what is "
                + $"published meanwhile they would not all be kept. Nothing was touched: let them be delivered first, or allow more.",
            FaultKind.Invalid
        );
    }

    private async Task RefillAsync(EndpointRecord record, CancellationToken cancellationToken)
    {
        await using var channel = await session.Connection.CreateChannelAsync(cancellationToken: cancellationToken);
        await session.Topology.DeclareEndpointAsync(channel, _to, subscription, cancellationToken);
        var moved = await MoveAllAsync(Backlog, cancellationToken);
        moved += await SwitchAsync(channel, record, cancellationToken);
        tell($"{Endpoint}: {moved} messages put into the new queues, in their order");
        foreach (var queue in new[] { Backlog, Meanwhile })
        {
            if (!await IsEmptyAsync(queue, cancellationToken))
                throw NotAlone(queue);
            await channel.QueueDeleteAsync(queue, cancellationToken: cancellationToken);
        }

        await WriteAsync(_to, EndpointRecord.Of(subscription).With(subscription) with { Owner = record.Owner }, cancellationToken);
        if (IsMove)
            await WriteAsync(
                _from,
                EndpointRecord.Of(subscription) with
                {
                    Owner = record.Owner,
                    IsMigrating = true,
                    IsMoving = true,
                    IsEmptied = true,
                    IsMoved = true,
                },
                cancellationToken
            );
    }

    // Repeats until no other consumer holds messages: another 'esb plan --apply', or a killed one that the broker has not noticed yet.
    private async Task<int> MoveAllAsync(string queue, CancellationToken cancellationToken)
    {
        var moved = 0;
        for (var look = 0; look < MaxLooks; look++)
        {
            moved += await _back.MoveAsync(queue, ToEndpointAsync, cancellationToken);
            if (await IsEmptyAsync(queue, cancellationToken))
                return moved;
            await Task.Delay(Quiet, time, cancellationToken);
        }

        throw NotAlone(queue);
    }

    private async Task<bool> IsEmptyAsync(string queue, CancellationToken cancellationToken) =>
        await session.Connection.CountAsync(queue, cancellationToken) is null or { MessageCount: 0, ConsumerCount: 0 };

    // Published messages go to the new queues as soon as no earlier message is in flight.
    private async Task<int> SwitchAsync(IChannel channel, EndpointRecord record, CancellationToken cancellationToken)
    {
        var topics = TopicsOf(record);
        var began = time.GetTimestamp();
        var moved = await CatchUpAsync(cancellationToken);
        while (true)
        {
            await using (await users.HoldPublishesAsync(topics, cancellationToken))
            {
                moved += await _back.MoveAsync(Meanwhile, ToEndpointAsync, cancellationToken, MostWhileHeld);
                await Task.Delay(Quiet, time, cancellationToken); // for publishers that were not asked to wait
                if (await WaitingAsync(cancellationToken) == 0)
                    return moved + await RebindAsync(channel, record, cancellationToken);
            }

            if (time.GetElapsedTime(began) > LongestWait)
                throw Busy();
        }
    }

    // Runs while publishers are active, until the rest is small enough to be moved while they wait.
    private async Task<int> CatchUpAsync(CancellationToken cancellationToken)
    {
        var moved = 0;
        var before = long.MaxValue;
        for (
            var waiting = await WaitingAsync(cancellationToken);
            waiting > FewWaiting && waiting < before;
            waiting = await WaitingAsync(cancellationToken)
        )
        {
            before = waiting;
            moved += await _back.MoveAsync(Meanwhile, ToEndpointAsync, cancellationToken, waiting);
        }

        return moved;
    }

    private async Task<long> WaitingAsync(CancellationToken cancellationToken) =>
        (await session.Connection.CountAsync(Meanwhile, cancellationToken))?.MessageCount ?? 0;

    private async Task<int> RebindAsync(IChannel channel, EndpointRecord record, CancellationToken cancellationToken)
    {
        foreach (var pattern in subscription.Patterns)
            await session.Topology.BindAsync(channel, _to, subscription, pattern, cancellationToken);
        foreach (var pattern in Patterns(record))
            await channel.QueueUnbindAsync(
                Meanwhile,
                session.Names.Topic(pattern.Topic),
                pattern.Value,
                cancellationToken: cancellationToken
            );
        var late = await _back.MoveAsync(Meanwhile, ToEndpointAsync, cancellationToken);
        if (late > 0)
            tell($"{Endpoint}: {late} messages were published by strangers at the moment of the switch; they may come twice or late");
        return late;
    }

    private ValueTask<PublishResult> ToEndpointAsync(WireMessage wire, BasicProperties properties, string subject, string? key) =>
        subscription.Lanes is null
            ? session.Publisher.SendAsync("", _to.Queue, key: "", properties, wire.Body)
            : session.Publisher.SendAsync(_to.Queue, subject, key ?? "", properties, wire.Body);

    private async Task WriteAsync(EndpointNames queues, EndpointRecord record, CancellationToken cancellationToken)
    {
        await using var channel = await session.Connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var open = await session.Records.OpenAsync(session.Connection, channel, queues, cancellationToken);
        await session.Records.ReplaceAsync(channel, queues, open, record, cancellationToken);
    }

    private List<string> TopicsOf(EndpointRecord record) =>
        [.. Patterns(record).Select(pattern => session.Names.Topic(pattern.Topic)).Distinct()];

    private IEnumerable<SubjectPattern> Patterns(EndpointRecord record) =>
        record.Bound.Concat(EndpointRecord.PatternsOf(subscription)).Distinct().Select(SubjectPattern.Parse).OfType<SubjectPattern>();

    private EsbException Busy() =>
        new(
            "ESB-PLAN-BUSY",
            $"Others than the hosts of this farm publish for '{Endpoint}' all the time: the order could not be kept. Nothing is "
                + $"lost: stop them and apply again.",
            FaultKind.Invalid
        );

    private static EsbException NotAlone(string queue) =>
        new(
            "ESB-PLAN-BUSY",
            $"Somebody else has messages of {queue}, perhaps another 'esb plan --apply'. Nothing is lost: apply again once that is over.",
            FaultKind.Invalid
        );

    private EsbException Impossible() =>
        new(
            "ESB-CFG-QUEUEDRIFT",
            $"The queue of '{Endpoint}' was not made by this program, so that it cannot tell how to replace it. Empty and delete it "
                + $"by hand.",
            FaultKind.Invalid
        );
}
