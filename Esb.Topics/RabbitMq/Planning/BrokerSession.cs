using Esb.Core.Errors;
using Esb.Topics.Farm;
using Esb.Topics.RabbitMq.Connections;
using Esb.Topics.RabbitMq.Publishing;
using Esb.Topics.RabbitMq.Topology;
using Esb.Topics.RabbitMq.Wire;
using Microsoft.Extensions.Logging.Abstractions;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Planning;

/// <summary>Access to a broker, to inspect and change it while no transport runs in this process.</summary>
internal sealed class BrokerSession : IAsyncDisposable
{
    private readonly BrokerConnection _connection;

    private BrokerSession(RabbitMqTransportConfig config, string name, IReadOnlyCollection<string> topics, TimeProvider time)
    {
        var address = RabbitMqAddress.Of(config, time.GetUtcNow());
        Address = address;
        Names = new RabbitMqNames(config.Prefix, name);
        Topology = new RabbitMqTopology(Names, () => topics);
        var user = new BrokerUser(address.User, NullLogger.Instance);
        Reader = new WireReader(Names, new WireSignature(FarmKeys.None, user), time);
        _connection = new BrokerConnection(
            address.ToFactory("plan"),
            (connection, token) => user.ProveAsync(connection, Names.Probes, token),
            time,
            NullLogger.Instance
        );
        Publisher = new ConfirmedPublisher(_connection, user, new WireSignature(FarmKeys.None, user), time);
        Records = new EndpointRecords(Publisher);
        Homes = new EndpointHomes(Names, Records);
    }

    public RabbitMqAddress Address { get; }

    public RabbitMqNames Names { get; }

    public RabbitMqTopology Topology { get; }

    public WireReader Reader { get; }

    public ConfirmedPublisher Publisher { get; }

    public EndpointRecords Records { get; }

    public EndpointHomes Homes { get; }

    /// <summary>The connection.</summary>
    /// <exception cref="EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>: the connection was lost.</exception>
    public IConnection Connection => _connection.Current ?? throw Unreachable(_connection.Obstacle);

    /// <summary>Connects.</summary>
    /// <exception cref="EsbException"><c>ESB-TOPIC-UNAVAILABLE</c>.</exception>
    public static async Task<BrokerSession> OpenAsync(
        RabbitMqTransportConfig config,
        string name,
        IReadOnlyCollection<string> topics,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        var session = new BrokerSession(config, name, topics, time);
        await session._connection.StartAsync(cancellationToken);
        if (session._connection.Current is not null)
            return session;
        var reason = session._connection.Obstacle;
        await session.DisposeAsync();
        throw Unreachable(reason);
    }

    public async ValueTask DisposeAsync()
    {
        await Publisher.DisposeAsync();
        await _connection.DisposeAsync();
    }

    private static EsbException Unreachable(string? reason) =>
        new("ESB-TOPIC-UNAVAILABLE", $"The broker cannot be reached: {reason}.", FaultKind.Unavailable);
}
