using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Network;
using Npgsql;

namespace Esb.IntegrationTests.Faults.Farm;

/// <summary>A way to the database for each host, so that one alone can lose it; the database knows the host by its name.</summary>
internal sealed class HostProxies : IAsyncDisposable
{
    private readonly Dictionary<FarmHost, INetworkProxy> _proxies = [];

    public INetworkProxy Of(FarmHost host) => _proxies[host];

    public static async Task<HostProxies> StartAsync(FaultBench bench)
    {
        var proxies = new HostProxies();
        var store = new NpgsqlConnectionStringBuilder(bench.Servers.Postgres) { Database = bench.Name };
        var port = store.Port;
        foreach (var host in bench.Farm.Hosts)
        {
            var proxy = proxies._proxies[host] = await NetworkProxies.StartAsync(port, FaultBench.Log);
            (store.Port, store.ApplicationName) = (proxy.Port, host.Name);
            host.Set(BenchConfiguration.StoreVariable, store.ConnectionString);
        }

        return proxies;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var proxy in _proxies.Values)
            await proxy.DisposeAsync();
    }
}
