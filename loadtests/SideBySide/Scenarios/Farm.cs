using SideBySide.Servers;

namespace SideBySide.Scenarios;

/// <summary>Hosts that share their queues.</summary>
internal sealed class Farm : IAsyncDisposable
{
    private readonly TopicServers _topics;
    private readonly IReadOnlyList<Pool> _pools;
    private readonly List<EsbHost> _hosts = [];

    private Farm(TopicServers topics, string prefix, IReadOnlyList<Pool> pools) => (_topics, Prefix, _pools) = (topics, prefix, pools);

    public string Prefix { get; }

    public TimeSpan ProcessorTime => _hosts.Aggregate(TimeSpan.Zero, (sum, host) => sum + host.ProcessorTime);

    public static async Task<Farm> StartAsync(
        TopicServers topics,
        string prefix,
        int hosts,
        IReadOnlyList<Pool> pools,
        CancellationToken cancellationToken
    )
    {
        var farm = new Farm(topics, prefix, pools);
        try
        {
            for (var host = 0; host < hosts; host++)
                await farm.AddAsync(cancellationToken);
            return farm;
        }
        catch
        {
            await farm.DisposeAsync();
            throw;
        }
    }

    public async Task AddAsync(CancellationToken cancellationToken) =>
        _hosts.Add(await _topics.HostAsync(Prefix, _pools, cancellationToken));

    /// <summary>Ends one of them as a crash would.</summary>
    public async Task KillAsync()
    {
        var victim = _hosts[^1];
        _hosts.Remove(victim);
        victim.Kill();
        await victim.DisposeAsync();
    }

    public async ValueTask DisposeAsync() => await Task.WhenAll(_hosts.Select(host => host.DisposeAsync().AsTask()));
}
