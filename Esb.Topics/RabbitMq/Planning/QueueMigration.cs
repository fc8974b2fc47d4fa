using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Topology;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Planning;

/// <summary>Replaces the queues of an endpoint that nobody consumes by others, with all that waits in them, in its order.</summary>
/// <remarks>
/// What is published meanwhile collects in a queue beside. Each step can be done again: a migration that was stopped goes on at the next call, and until
/// it is finished no host consumes. A message may come twice, with the same id, when it was published at the very moment of a switch, or the move was
/// interrupted; none is lost. That the order holds for what is published at the moment of the last switch is made sure by waiting for a quiet one.
/// </remarks>
internal sealed class QueueMigration(BrokerSession session, Subscription subscription, Action<string> tell, TimeProvider time)
{
    private static readonly TimeSpan Quiet = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(60);

    private readonly MessageMover _aside = new(session, subscription.Endpoint);
    private readonly MessageMover _back = new(session, subscription.Endpoint);

    private string Endpoint => subscription.Endpoint;

    private string Backlog => session.Names.Backlog(Endpoint);

    private string Meanwhile => session.Names.Meanwhile(Endpoint);

    public async Task RunAsync(CancellationToken cancellationToken)
    {
        var record = await session.Records.PeekAsync(session.Connection, Endpoint, cancellationToken) ?? throw Impossible();
        var existing = new ExistingQueues(session, Endpoint, record);
        await existing.RefuseConsumersAsync(cancellationToken);
        await DivertAsync(record, cancellationToken);
        if (!record.IsEmptied)
        {
            await existing.UnbindAsync(cancellationToken);
            var moved = await existing.MoveAllAsync(_aside, Backlog, cancellationToken);
            tell($"{Endpoint}: {moved} messages set aside, in their order");
            await existing.DeleteAsync(cancellationToken);
            await WriteAsync(record with { Shape = QueueShape.Of(subscription), Delays = [], IsMigrating = true, IsEmptied = true }, cancellationToken);
        }

        await RefillAsync(record, cancellationToken);
        tell($"{Endpoint}: migrated");
    }

    // From now on all that is published is kept beside; the old queues get it as well until they are unbound.
    private async Task DivertAsync(EndpointRecord record, CancellationToken cancellationToken)
    {
        await using var channel = await session.Connection.CreateChannelAsync(cancellationToken: cancellationToken);
        await session.Topology.DeclareAsideAsync(channel, Backlog, cancellationToken);
        await session.Topology.DeclareAsideAsync(channel, Meanwhile, cancellationToken);
        await WriteAsync(record with { IsMigrating = true }, cancellationToken);
        foreach (var pattern in Patterns(record))
            await channel.QueueBindAsync(Meanwhile, session.Names.Topic(pattern.Topic), pattern.Value, cancellationToken: cancellationToken);
    }

    private async Task RefillAsync(EndpointRecord record, CancellationToken cancellationToken)
    {
        await using var channel = await session.Connection.CreateChannelAsync(cancellationToken: cancellationToken);
        await session.Topology.DeclareEndpointAsync(channel, subscription, cancellationToken);
        var moved = await _back.MoveAsync(Backlog, ToEndpointAsync, cancellationToken);
        moved += await MoveUntilQuietAsync(cancellationToken);
        foreach (var pattern in subscription.Patterns) await session.Topology.BindAsync(channel, subscription, pattern, cancellationToken);
        foreach (var pattern in Patterns(record))
            await channel.QueueUnbindAsync(Meanwhile, session.Names.Topic(pattern.Topic), pattern.Value, cancellationToken: cancellationToken);
        var late = await _back.MoveAsync(Meanwhile, ToEndpointAsync, cancellationToken);
        if (late > 0) tell($"{Endpoint}: {late} messages were published at the moment of the switch; they may come twice or late");
        tell($"{Endpoint}: {moved + late} messages put into the new queues, in their order");
        foreach (var queue in new[] { Backlog, Meanwhile }) await channel.QueueDeleteAsync(queue, cancellationToken: cancellationToken);
        await WriteAsync(EndpointRecord.Of(subscription).With(subscription), cancellationToken);
    }

    private async Task<int> MoveUntilQuietAsync(CancellationToken cancellationToken)
    {
        var began = time.GetTimestamp();
        var moved = 0;
        while (true)
        {
            var more = await _back.MoveAsync(Meanwhile, ToEndpointAsync, cancellationToken);
            moved += more;
            await Task.Delay(Quiet, time, cancellationToken);
            if (await session.Connection.CountAsync(Meanwhile, cancellationToken) is { MessageCount: 0 }) return moved;
            if (time.GetElapsedTime(began) > LongestWait)
                throw Busy();
        }
    }

    private ValueTask<PublishResult> ToEndpointAsync(WireMessage wire, BasicProperties properties, string subject, string? key) => subscription.Lanes is null
        ? session.Publisher.SendAsync("", session.Names.Endpoint(Endpoint), key: "", properties, wire.Body)
        : session.Publisher.SendAsync(session.Names.Endpoint(Endpoint), subject, key ?? "", properties, wire.Body);

    private async Task WriteAsync(EndpointRecord record, CancellationToken cancellationToken)
    {
        await using var channel = await session.Connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var open = await session.Records.OpenAsync(session.Connection, channel, Endpoint, cancellationToken);
        await session.Records.ReplaceAsync(channel, Endpoint, open, record, cancellationToken);
    }

    private IEnumerable<SubjectPattern> Patterns(EndpointRecord record) =>
        record.Bound.Concat(EndpointRecord.PatternsOf(subscription)).Distinct().Select(SubjectPattern.Parse).OfType<SubjectPattern>();

    private EsbException Busy() => new(
        "ESB-PLAN-BUSY",
        $"Messages for '{Endpoint}' are published all the time: their order could not be kept. Nothing is lost: stop the publishers and apply again.",
        FaultKind.Invalid);

    private EsbException Impossible() => new(
        "ESB-CFG-QUEUEDRIFT",
        $"The queue of '{Endpoint}' was not made by this program, so that it cannot tell how to replace it. Empty and delete it by hand.",
        FaultKind.Invalid);
}
