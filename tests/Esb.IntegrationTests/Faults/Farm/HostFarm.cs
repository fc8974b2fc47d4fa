namespace Esb.IntegrationTests.Faults.Farm;

/// <summary>Several hosts of one configuration, each in a process, with ports and a folder of its own.</summary>
internal sealed class HostFarm(IReadOnlyList<FarmHost> hosts) : IAsyncDisposable
{
    public IReadOnlyList<FarmHost> Hosts => hosts;

    public string Output => string.Join('\n', hosts.Select(host => $"=== {host.Name} ===\n{host.Output}"));

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var host in hosts)
            host.Start();
        await WaitForReadyAsync(cancellationToken);
    }

    public Task WaitForReadyAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(hosts.Select(host => host.WaitForReadyAsync(cancellationToken)));

    public async ValueTask DisposeAsync()
    {
        foreach (var host in hosts)
            await host.DisposeAsync();
    }
}
