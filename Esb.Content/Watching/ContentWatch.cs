using Esb.Content.Lookups;
using Esb.Content.Schemas;
using Esb.Content.Transforms;
using Esb.Core;
using Esb.Core.Configuration;

namespace Esb.Content.Watching;

/// <summary>Checks every second whether maps, schemas and look-ups have changed, until the bus stops.</summary>
/// <remarks>Polls the file system instead of using its notifications: polling also works on mounted volumes, and if a link replaces a whole
/// folder.</remarks>
internal sealed class ContentWatch(Live<MapCatalog> maps, Live<SchemaCatalog> schemas, Live<LookupCatalog> lookups, TimeProvider time)
    : IBusPart,
        IHealthNotices,
        IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly CancellationTokenSource _stopping = new();
    private Task _looking = Task.CompletedTask;

    public BusStage Stage => BusStage.Stores;

    public IEnumerable<string> Notices =>
        All.Where(content => content.Problem is not null)
            .Select(content => $"ESB-CFG-RELOAD {content.Kind} {content.Name}: {content.Problem}");

    private IEnumerable<ILiveContent> All => maps.Current.All.Concat<ILiveContent>(schemas.Current.All).Concat(lookups.Current.All);

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
            foreach (var content in All)
                content.Look();
            await Task.Delay(Interval, time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }
}
