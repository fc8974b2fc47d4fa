using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Topology;

/// <summary>The location of an endpoint's queues.</summary>
/// <param name="Names">The names of the queues.</param>
/// <param name="Record">The record of the queues; null if no record exists.</param>
internal sealed record EndpointHome(EndpointNames Names, EndpointRecord? Record)
{
    /// <summary>The other configuration that owns the queues; null if no owner is recorded, or this configuration owns them.</summary>
    public string? Stranger { get; init; }
}

/// <summary>Finds the names under which the queues of an endpoint exist. Names of release 0.1, without the configuration's name, stay in
/// use until the queues are moved.</summary>
internal sealed class EndpointHomes(RabbitMqNames names, EndpointRecords records)
{
    /// <summary>Looks the queues up; creates nothing.</summary>
    public async Task<EndpointHome> FindAsync(IConnection connection, string endpoint, CancellationToken cancellationToken)
    {
        var (queues, old) = (names.New(endpoint), names.Old(endpoint));
        if (await records.PeekAsync(connection, queues, cancellationToken) is { } record)
            return new EndpointHome(queues, record);
        if (await records.PeekAsync(connection, old, cancellationToken) is { } earlier)
            return OfEarlier(queues, old, earlier);
        var isOld =
            await connection.HasQueueAsync(old.Queue, cancellationToken) || await connection.HasQueueAsync(old.Lane(0), cancellationToken);
        return new EndpointHome(isOld ? old : queues, Record: null);
    }

    /// <summary>Looks up the queues of an endpoint that this configuration must own.</summary>
    /// <exception cref="QueueDriftException"><c>ESB-CFG-QUEUEOWNER</c>: another configuration owns them.</exception>
    public async Task<EndpointHome> FindOwnAsync(IConnection connection, string endpoint, CancellationToken cancellationToken)
    {
        var home = await FindAsync(connection, endpoint, cancellationToken);
        return home.Stranger is { } stranger ? throw QueueDriftException.Owner(home.Names.Queue, stranger) : home;
    }

    /// <summary>Returns the configuration that claimed queues of release 0.1, including those it has moved; null if none has.</summary>
    public async Task<string?> FindOldOwnerAsync(IConnection connection, string endpoint, CancellationToken cancellationToken) =>
        (await records.PeekAsync(connection, names.Old(endpoint), cancellationToken))?.Owner;

    // A move leaves the old record behind, which keeps hosts of release 0.1 from creating the queues anew.
    private EndpointHome OfEarlier(EndpointNames queues, EndpointNames old, EndpointRecord record) =>
        record switch
        {
            { IsMoved: true } => new EndpointHome(queues, Record: null),
            { Owner: { } owner } when owner != names.Configuration => new EndpointHome(old, record) { Stranger = owner },
            _ => new EndpointHome(old, record),
        };
}
