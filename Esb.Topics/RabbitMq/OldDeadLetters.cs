using System.Diagnostics;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq;

/// <summary>The dead letters of release 0.1, which all configurations and the queues of that release share. Finds their owner and passes
/// them on.</summary>
internal sealed class OldDeadLetters(
    BrokerConnection connection,
    ConfirmedPublisher publisher,
    RabbitMqNames names,
    RabbitMqTopology topology,
    EndpointHomes homes
)
{
    private IConnection Connection => connection.Current ?? throw TopicFaults.NotAnswered(connection.Obstacle ?? BrokerFault.Away);

    /// <summary>True if their queue exists.</summary>
    public Task<bool> ExistAsync(CancellationToken cancellationToken) => Connection.HasQueueAsync(names.OldDeadLetters, cancellationToken);

    /// <summary>Returns the other configuration that owns the letters of an endpoint; null if this one does, or no owner is
    /// recorded.</summary>
    public async Task<string?> FindStrangerAsync(string endpoint, CancellationToken cancellationToken) =>
        names.Chosen(endpoint) is { AreOld: true }
        || await homes.FindOldOwnerAsync(Connection, endpoint, cancellationToken) is not { } owner
        || owner == names.Configuration
            ? null
            : owner;

    /// <summary>Passes a letter on to another configuration, whose hosts may be down.</summary>
    public async Task PassOnAsync(string owner, DeadLetter letter, ActivityContext parent, CancellationToken cancellationToken)
    {
        var queue = names.DeadLettersOf(owner);
        await using (var channel = await Connection.CreateChannelAsync(cancellationToken: cancellationToken))
            await topology.DeclareDeadLettersAsync(channel, queue, cancellationToken);
        var result = await publisher.SendAsync(queue, WireWriter.DeadLetter(letter, parent), letter.Message.Body.Bytes);
        if (result.Outcome != PublishOutcome.Confirmed)
            throw new IOException($"A dead letter of '{owner}' could not be passed on: {result.Reason}."); // offered again
    }
}
