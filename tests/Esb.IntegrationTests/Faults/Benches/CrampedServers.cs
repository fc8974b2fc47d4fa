using Esb.IntegrationTests.Faults.Nemeses;

namespace Esb.IntegrationTests.Faults.Benches;

/// <summary>A broker and a database of a test's own, of which one has its data on a small volume.</summary>
internal sealed class CrampedServers : IAsyncDisposable
{
    private readonly string _server;

    private CrampedServers(string server, PrivateServers servers, SmallVolume volume) =>
        (_server, Servers, Volume) = (server, servers, volume);

    public PrivateServers Servers { get; }

    public SmallVolume Volume { get; }

    /// <param name="server"><c>rabbitmq</c> or <c>postgres</c>.</param>
    public static async Task<CrampedServers> StartAsync(string server)
    {
        var folder = Directory.CreateTempSubdirectory("esb-cramped-").FullName;
        // Of the broker only its data, so that the script still finds its process when the volume is gone.
        var volume = await SmallVolume.MountAsync(Path.Combine(folder, server == "rabbitmq" ? "rabbitmq/mnesia" : server), megabytes: 384);
        return new CrampedServers(server, await PrivateServers.StartInAsync(folder), volume);
    }

    public async ValueTask DisposeAsync()
    {
        await Servers.StopAsync(_server);
        await Volume.DisposeAsync();
        await Servers.DisposeAsync();
    }
}
