using Esb.Endpoints.Http.Sending;

namespace Esb.Endpoints.Http.Servers;

/// <summary>The servers of an http-outbound endpoint, which all serve the same path. Thread-safe.</summary>
internal sealed class HttpServers(HttpTargetingConfig config, TimeProvider time) : IDisposable
{
    /// <summary>The most servers of one endpoint.</summary>
    public const int Most = 64;

    private readonly HttpServer[] _all = [.. config.Addresses.Select(address => new HttpServer(address, config, time))];
    private uint _turns;

    /// <summary>The first server of the configuration, whose address stands for the endpoint.</summary>
    public HttpServer First => _all[0];

    /// <summary>Begins the choice of servers for one request.</summary>
    public ServerTurn Begin() =>
        new(
            _all,
            _all.Length > 1 && config.Balance == ServerBalance.RoundRobin ? (int)(Interlocked.Increment(ref _turns) % (uint)_all.Length) : 0
        );

    /// <summary>True if requests to this address may go to any of the servers.</summary>
    public bool Serve(Uri address) => _all.Length > 1 && address.GetLeftPart(UriPartial.Authority) == First.Authority;

    public void Dispose()
    {
        foreach (var server in _all)
            server.Dispose();
    }
}
