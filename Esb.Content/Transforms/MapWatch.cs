using Esb.Core;
using Esb.Core.Configuration;

namespace Esb.Content.Transforms;

/// <summary>Checks every second whether maps have changed, until the bus stops.</summary>
/// <remarks>Polls the file system instead of using its notifications: polling also works on mounted volumes, and if a link replaces a whole
/// folder.</remarks>
internal sealed class MapWatch(Live<MapCatalog> maps, TimeProvider time) : IBusPart, IHealthNotices, IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly CancellationTokenSource _stopping = new();
    private Task _looking = Task.CompletedTask;

    public BusStage Stage => BusStage.Stores;

    public IEnumerable<string> Notices => maps.Current.All.Where(map => map.Problem is not null).Select(map => $"ESB-CFG-RELOAD map {map.Name}: {map.Problem}");

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _looking = Task.Run(() => LookAsync(_stopping.Token), CancellationToken.None);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _looking;
    }

    public void Dispose() => _stopping.Dispose();

    private async Task LookAsync(CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            foreach (var map in maps.Current.All) map.Look();
            await Task.Delay(Interval, time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}
