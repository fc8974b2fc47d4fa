using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Planning;
using Esb.Core.Topics;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Farm;
using Esb.Topics.RabbitMq.Topology;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Planning;

/// <summary>Compares the exchanges and queues that a configuration requires with those on the broker.</summary>
/// <remarks>AMQP cannot list queues: those of endpoints that are no longer in the configuration are not found.</remarks>
internal sealed class BrokerPlanner(
    BusIdentity bus,
    TransportConfig transport,
    IReadOnlyDictionary<string, TopicConfig> topics,
    IReadOnlyDictionary<string, EndpointConfig> endpoints,
    FarmKeys keys,
    TimeProvider time
) : IChangePlanner
{
    public async Task<IReadOnlyList<PlannedChange>> PlanAsync(CancellationToken cancellationToken)
    {
        var changes = new List<PlannedChange>();
        await AskAsync(session => CompareAsync(session, changes, cancellationToken), cancellationToken);
        return changes;
    }

    public Task ApplyAsync(Action<string> tell, CancellationToken cancellationToken) =>
        AskAsync(session => ApplyAsync(session, tell, cancellationToken), cancellationToken);

    // A broker that is lost between two requests, or refuses one, counts as unreachable.
    private async Task AskAsync(Func<BrokerSession, Task> ask, CancellationToken cancellationToken)
    {
        if (transport is not RabbitMqTransportConfig broker)
            return;
        await using var session = await BrokerSession.OpenAsync(broker, bus.Name, [.. topics.Keys], time, cancellationToken);
        try
        {
            await ask(session);
        }
        catch (Exception ex) when (ex is OperationInterruptedException or IOException or TimeoutException or ObjectDisposedException)
        {
            throw TopicFaults.NotAnswered(BrokerFault.Describe(ex));
        }
    }

    private async Task CompareAsync(BrokerSession session, List<PlannedChange> changes, CancellationToken cancellationToken)
    {
        foreach (var topic in topics.Keys)
            changes.Add(await PlanTopicAsync(session, topic, cancellationToken));
        foreach (var subscription in Subscriptions)
            changes.AddRange(await new EndpointPlan(session, subscription).CompareAsync(cancellationToken));
    }

    private async Task ApplyAsync(BrokerSession session, Action<string> tell, CancellationToken cancellationToken)
    {
        await session.Topology.DeclareSharedAsync(session.Connection, cancellationToken);
        var toMigrate = new List<Subscription>();
        foreach (var subscription in Subscriptions)
        {
            var changes = await new EndpointPlan(session, subscription).CompareAsync(cancellationToken);
            if (changes.Any(change => change.Kind == ChangeKind.Migrate))
                toMigrate.Add(subscription);
        }

        if (toMigrate.Count > 0)
            await MigrateAsync(session, toMigrate, tell, cancellationToken);
    }

    private async Task MigrateAsync(
        BrokerSession session,
        IEnumerable<Subscription> subscriptions,
        Action<string> tell,
        CancellationToken cancellationToken
    )
    {
        await using var visit = await FarmVisit.BeginAsync(session.Address, session.Names.Farm, keys, time, cancellationToken);
        foreach (var subscription in subscriptions)
            await new QueueMigration(session, subscription, new FarmQueueUsers(visit, subscription.Endpoint, tell), tell, time).RunAsync(
                cancellationToken
            );
    }

    private IEnumerable<Subscription> Subscriptions =>
        endpoints
            .Values.OfType<OutboundEndpointConfig>()
            .Where(endpoint => endpoint.Enabled && endpoint.Subscribe.Count > 0)
            .Select(Subscription.Of);

    private static async Task<PlannedChange> PlanTopicAsync(BrokerSession session, string topic, CancellationToken cancellationToken)
    {
        var exchange = session.Names.Topic(topic);
        var exists = await session.Connection.HasExchangeAsync(exchange, cancellationToken);
        return new PlannedChange(exists ? ChangeKind.Keep : ChangeKind.Create, $"exchange {exchange}", "topic");
    }
}
