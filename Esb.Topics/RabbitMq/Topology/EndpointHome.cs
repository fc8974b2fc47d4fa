using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>Where the queues of an endpoint are.</summary>
/// <param name="Names">Their names.</param>
/// <param name="Record">What is known of them; null where nothing is.</param>
internal sealed record EndpointHome(EndpointNames Names, EndpointRecord? Record)
{
    /// <summary>The configuration that has them; null where none has said so, or it is this one.</summary>
    public string? Stranger { get; init; }
}

/// <summary>Finds out under which names the queues of an endpoint exist. Those of release 0.1, without the configuration's name, are gone
/// on with until they are moved.</summary>
internal sealed class EndpointHomes(RabbitMqNames names, EndpointRecords records)
{
    /// <summary>Looks, and makes nothing.</summary>
    public async Task<EndpointHome> FindAsync(IConnection connection, string endpoint, CancellationToken cancellationToken)
    {
        var (queues, old) = (names.New(endpoint), names.Old(endpoint));
        if (await records.PeekAsync(connection, queues, cancellationToken) is { } record) return new EndpointHome(queues, record);
        if (await records.PeekAsync(connection, old, cancellationToken) is { } earlier) return OfEarlier(queues, old, earlier);
        var isOld = await connection.HasQueueAsync(old.Queue, cancellationToken) || await connection.HasQueueAsync(old.Lane(0), cancellationToken);
        return new EndpointHome(isOld ? old : queues, Record: null);
    }

    /// <summary>The same, of an endpoint that is this configuration's.</summary>
    /// <exception cref="QueueDriftException"><c>ESB-CFG-QUEUEOWNER</c>: it is not.</exception>
    public async Task<EndpointHome> FindOwnAsync(IConnection connection, string endpoint, CancellationToken cancellationToken)
    {
        var home = await FindAsync(connection, endpoint, cancellationToken);
        return home.Stranger is { } stranger ? throw QueueDriftException.Owner(home.Names.Queue, stranger) : home;
    }

    /// <summary>The configuration that said that queues of release 0.1 are its own, also of those that it has moved; null where none
    /// has.</summary>
    public async Task<string?> FindOldOwnerAsync(IConnection connection, string endpoint, CancellationToken cancellationToken) =>
        (await records.PeekAsync(connection, names.Old(endpoint), cancellationToken))?.Owner;

    // What was moved left its record behind, which keeps hosts of release 0.1 from making the queues anew.
    private EndpointHome OfEarlier(EndpointNames queues, EndpointNames old, EndpointRecord record) => record switch
    {
        { IsMoved: true } => new EndpointHome(queues, Record: null),
        { Owner: { } owner } when owner != names.Configuration => new EndpointHome(old, record) { Stranger = owner },
        _ => new EndpointHome(old, record),
    };
}
