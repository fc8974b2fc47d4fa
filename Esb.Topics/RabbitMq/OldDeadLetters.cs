using System.Diagnostics;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq;

/// <summary>The dead letters of release 0.1, which were those of all configurations together, and of the queues that it made: whose they
/// are, and how the owner gets them.</summary>
internal sealed class OldDeadLetters(
    BrokerConnection connection, ConfirmedPublisher publisher, RabbitMqNames names, RabbitMqTopology topology, EndpointHomes homes)
{
    private IConnection Connection => connection.Current ?? throw TopicFaults.NotAnswered(connection.Obstacle ?? BrokerFault.Away);

    /// <summary>Whether there is a queue of them.</summary>
    public Task<bool> ExistAsync(CancellationToken cancellationToken) => Connection.HasQueueAsync(names.OldDeadLetters, cancellationToken);

    /// <summary>The other configuration whose letters of an endpoint are; null where they are this one's, or nobody has said so.</summary>
    public async Task<string?> FindStrangerAsync(string endpoint, CancellationToken cancellationToken) =>
        names.Chosen(endpoint) is { AreOld: true } || await homes.FindOldOwnerAsync(Connection, endpoint, cancellationToken) is not { } owner || owner == names.Configuration
            ? null
            : owner;

    /// <summary>Hands a letter on to another configuration, whose hosts may be away.</summary>
    public async Task PassOnAsync(string owner, DeadLetter letter, ActivityContext parent, CancellationToken cancellationToken)
    {
        var queue = names.DeadLettersOf(owner);
        await using (var channel = await Connection.CreateChannelAsync(cancellationToken: cancellationToken))
            await topology.DeclareDeadLettersAsync(channel, queue, cancellationToken);
        var result = await publisher.SendAsync(queue, WireWriter.DeadLetter(letter, parent), letter.Message.Body.Bytes);
        if (result.Outcome != PublishOutcome.Confirmed) throw new IOException($"A dead letter of '{owner}' could not be passed on: {result.Reason}."); // it is offered again
    }
}
