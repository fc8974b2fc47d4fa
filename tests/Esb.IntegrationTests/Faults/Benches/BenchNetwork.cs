using Esb.IntegrationTests.Faults.Network;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Benches;

/// <summary>How the hosts of a bench reach its servers: directly, or through a proxy each.</summary>
internal sealed class BenchNetwork(string brokerUrl, string postgres, INetworkProxy? broker, INetworkProxy? database) : IAsyncDisposable
{
    /// <summary>The broker's address, as the hosts know it.</summary>
    public string BrokerUrl => brokerUrl;

    /// <summary>The database's connection string, as the hosts know it.</summary>
    public string Postgres => postgres;

    public INetworkProxy Broker => broker ?? throw new InvalidOperationException("The bench was not set up with proxies.");

    public INetworkProxy Database => database ?? throw new InvalidOperationException("The bench was not set up with proxies.");

    public static BenchNetwork Direct(PrivateServers servers) => new(servers.RabbitMq, servers.Postgres, null, null);

    public static async Task<BenchNetwork> ProxiedAsync(PrivateServers servers, Action<string> log)
    {
        var url = new UriBuilder(servers.RabbitMq);
        var connection = new NpgsqlConnectionStringBuilder(servers.Postgres);
        var broker = await NetworkProxies.StartAsync(url.Port, log);
        var database = await NetworkProxies.StartAsync(connection.Port, log);
        (url.Port, connection.Port) = (broker.Port, database.Port);
        return new BenchNetwork(url.Uri.AbsoluteUri.TrimEnd('/'), connection.ConnectionString, broker, database);
    }

    public async ValueTask DisposeAsync()
    {
        if (broker is not null)
            await broker.DisposeAsync();
        if (database is not null)
            await database.DisposeAsync();
    }
}
