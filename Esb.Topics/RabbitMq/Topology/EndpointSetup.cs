using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Creates what an endpoint needs on the broker before it can be consumed. Never changes anything that exists with other
/// settings.</summary>
internal sealed class EndpointSetup(
    RabbitMqNames names,
    RabbitMqTopology topology,
    EndpointRecords records,
    EndpointHomes homes,
    ConnectionFactory factory,
    TimeProvider time
)
{
    private const string Advice = "'esb plan' shows what a migration would do, and with --apply does it";

    /// <param name="connection">The connection for its channels.</param>
    /// <param name="subscription">The endpoint.</param>
    /// <param name="cancellationToken">Stops between two declarations; the next start continues.</param>
    /// <exception cref="QueueDriftException">A queue or exchange exists with other settings.</exception>
    public async Task ApplyAsync(IConnection connection, Subscription subscription, CancellationToken cancellationToken)
    {
        if (subscription.Lanes is null)
        {
            await MakeAsync(connection, subscription, cancellationToken);
            return;
        }

        // A broker without the plug-in for lanes closes the whole connection, so a separate one is used.
        await using var own = await factory.OpenAsync(time, cancellationToken);
        await MakeAsync(own, subscription, cancellationToken);
    }

    private async Task MakeAsync(IConnection connection, Subscription subscription, CancellationToken cancellationToken)
    {
        var queues = (await homes.FindOwnAsync(connection, subscription.Endpoint, cancellationToken)).Names;
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var open = await records.OpenAsync(connection, channel, queues, cancellationToken);
        if (open.Record?.Owner is { } owner && owner != names.Configuration)
            throw QueueDriftException.Owner(queues.Queue, owner); // who was faster
        if (open.Record?.IsMigrating == true)
            throw new QueueDriftException("its migration has begun and is not finished; 'esb plan' with --apply resumes it");
        var shape = QueueShape.Of(subscription);
        if (
            open.Record is { } known
            && !shape.HasQueuesOf(known.Shape)
            && await ExistsAsync(connection, queues, known.Shape, cancellationToken)
        )
            throw Drift(shape.DifferencesFrom(known.Shape));
        if (open.Record is null && await connection.HasQueueAsync(StrangerOf(queues, subscription), cancellationToken))
            throw Drift([
                new ShapeDifference(
                    "delivery",
                    subscription.Lanes is null ? "ordered-by-key" : "another",
                    subscription.Lanes is null ? "another" : "ordered-by-key"
                ),
            ]);

        await DeclareAsync(connection, queues, subscription, open.Record?.Shape, cancellationToken);
        foreach (var pattern in subscription.Patterns)
            await topology.BindAsync(channel, queues, subscription, pattern, cancellationToken);
        var record = (open.Record ?? EndpointRecord.Of(subscription)).With(subscription) with { Owner = names.Configuration };
        if (open.Record is null || !record.Says(open.Record))
            await records.ReplaceAsync(channel, queues, open, record, cancellationToken);
        names.Choose(queues);
    }

    // Uses a separate channel: the broker closes it if a queue or exchange exists with other settings.
    private async Task DeclareAsync(
        IConnection connection,
        EndpointNames queues,
        Subscription subscription,
        QueueShape? existing,
        CancellationToken cancellationToken
    )
    {
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            await topology.DeclareEndpointAsync(channel, queues, subscription, cancellationToken);
        }
        catch (OperationInterruptedException ex) when (ex.ShutdownReason?.ReplyCode == Constants.PreconditionFailed)
        {
            var differences = existing is null ? [] : QueueShape.Of(subscription).DifferencesFrom(existing);
            throw differences.Count > 0 ? Drift(differences, ex) : new QueueDriftException($"{ex.ShutdownReason.ReplyText}; {Advice}", ex);
        }
    }

    // Returns the first queue that exists if messages of this endpoint wait elsewhere.
    private static string StrangerOf(EndpointNames queues, Subscription subscription) =>
        subscription.Lanes is null ? queues.Lane(0) : queues.Queue;

    private static async Task<bool> ExistsAsync(
        IConnection connection,
        EndpointNames queues,
        QueueShape shape,
        CancellationToken cancellationToken
    )
    {
        foreach (var queue in queues.Lanes(shape.Lanes))
        {
            if (await connection.HasQueueAsync(queue, cancellationToken))
                return true;
        }

        return false;
    }

    private static QueueDriftException Drift(IReadOnlyList<ShapeDifference> differences, Exception? inner = null) =>
        new($"its queue exists otherwise: {string.Join("; ", differences)}; {Advice}", inner);
}
