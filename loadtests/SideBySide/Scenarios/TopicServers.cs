using SideBySide.Servers;
using SideBySide.Topics;

namespace SideBySide.Scenarios;

/// <summary>Broker and database of the scenarios over topics, and hosts on them.</summary>
internal sealed class TopicServers : IAsyncDisposable
{
    private readonly Surroundings _surroundings;
    private readonly CompareDatabase _database;

    private TopicServers(Surroundings surroundings, string broker, CompareDatabase database, OrderPublisher publisher)
    {
        (_surroundings, Broker, _database, Publisher) = (surroundings, broker, database, publisher);
        Table = new OrdersTable(database.Connection);
    }

    public string Broker { get; }

    public string Database => _database.Connection;

    public OrderPublisher Publisher { get; }

    public OrdersTable Table { get; }

    public static async Task<TopicServers> StartAsync(Surroundings surroundings, TestServers servers, CancellationToken cancellationToken)
    {
        var (broker, server) = await servers.StartAsync(cancellationToken);
        var database = await CompareDatabase.CreateAsync(surroundings, server, cancellationToken);
        return new TopicServers(surroundings, broker, database, await OrderPublisher.ConnectAsync(broker, cancellationToken));
    }

    /// <param name="prefix">Hosts of one prefix share their queues.</param>
    /// <param name="pools">Endpoint, pool size and threads.</param>
    public Task<EsbHost> HostAsync(string prefix, IEnumerable<Pool> pools, CancellationToken cancellationToken) =>
        HostAsync("topics", prefix, pools, cancellationToken);

    /// <param name="configuration">Another than the usual one.</param>
    /// <param name="variables">Further variables of its environment.</param>
    public Task<EsbHost> HostAsync(
        string configuration,
        string prefix,
        IEnumerable<Pool> pools,
        CancellationToken cancellationToken,
        IEnumerable<KeyValuePair<string, string>>? variables = null
    ) =>
        EsbHost.StartAsync(
            _surroundings,
            configuration,
            prefix,
            [.. Variables(prefix), .. pools.SelectMany(pool => pool.Variables), .. variables ?? []],
            cancellationToken
        );

    /// <summary>A host whose audit is as the variables say.</summary>
    public Task<EsbHost> AuditedHostAsync(
        string prefix,
        IEnumerable<KeyValuePair<string, string>> audit,
        CancellationToken cancellationToken
    ) => EsbHost.StartAsync(_surroundings, "topics", prefix, [.. Variables(prefix), .. audit], cancellationToken);

    /// <summary>A host that records nothing; the bus itself has no such mode.</summary>
    public Task<EsbHost> UnrecordedHostAsync(string prefix, CancellationToken cancellationToken) =>
        HostAsync(prefix, "benchmarks/Esb.UnrecordedHost/bin/Release/net10.0/Esb.UnrecordedHost.dll", cancellationToken);

    /// <summary>A host that is another program with the same command line.</summary>
    public Task<EsbHost> HostAsync(string prefix, string program, CancellationToken cancellationToken) =>
        EsbHost.StartAsync(_surroundings, "topics", prefix, Variables(prefix), cancellationToken, program);

    public Task<BareClient> BareAsync(int concurrency, int connections, CancellationToken cancellationToken) =>
        BareClient.StartAsync(_surroundings, Broker, Database, concurrency, connections, cancellationToken);

    public Task<MassTransitClient> MassTransitAsync(CancellationToken cancellationToken) =>
        MassTransitClient.StartAsync(_surroundings, Broker, Database, cancellationToken);

    /// <summary>Has a host keep what it keeps in the database, where its configuration names none.</summary>
    public IEnumerable<KeyValuePair<string, string>> Store(string name) =>
        [
            new("ESB_POSTGRES", Database),
            new("ESB__STORE__TYPE", "postgres"),
            new("ESB__STORE__CONNECTION", "${env:ESB_POSTGRES}"),
            Schema(name),
        ];

    public async ValueTask DisposeAsync()
    {
        await Publisher.DisposeAsync();
        await Table.DisposeAsync();
        await _database.DisposeAsync();
    }

    private IEnumerable<KeyValuePair<string, string>> Variables(string prefix) =>
        [new("ESB_RABBITMQ", Broker), new("ESB_POSTGRES", Database), new("ESB__TRANSPORT__PREFIX", prefix), Schema(prefix)];

    private static KeyValuePair<string, string> Schema(string name) => new("ESB__STORE__SCHEMA", $"esb_{name.Replace('-', '_')}");
}
