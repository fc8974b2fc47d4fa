using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Host.Composition;
using Esb.Host.Reloading;

namespace Esb.Host.Versions;

/// <summary>Keeps what a host started with as a version. Where versions are what hosts run, follows the store: a host that missed an
/// exchange catches up.</summary>
internal sealed partial class VersionKeeper(
    ReloadDesk desk,
    VersionLedger ledger,
    VersionReader reader,
    IConfigurationVersions versions,
    ConfigurationSource source,
    TimeProvider time,
    ILogger<VersionKeeper> logger
) : IBusPart, IHealthNotices, IDisposable
{
    /// <summary>The time between two looks at the store.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stopping = new();
    private Task _following = Task.CompletedTask;
    private volatile string? _notice = source.Start?.Warning;
    private long _refused;

    public BusStage Stage => BusStage.Inbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(IInboundGround), typeof(IEndpointMonitor)];

    public IEnumerable<string> Notices => _notice is { } notice ? [notice] : [];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _following = FollowAsync(_stopping.Token);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _following;
    }

    public void Dispose() => _stopping.Dispose();

    private async Task FollowAsync(CancellationToken stopping)
    {
        try
        {
            for (var isKept = false; !isKept || reader.IsStore; await Task.Delay(Interval, time, stopping))
            {
                try
                {
                    if (!isKept)
                        isKept = await KeepAsync(stopping);
                    if (isKept && reader.IsStore)
                        await CatchUpAsync(stopping);
                }
                catch (EsbException ex)
                {
                    LogNotFollowed(ex); // the store reports that it is away
                }
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The host stops.
        }
        catch (ConfigurationRefusedException ex)
        {
            _notice = $"{ex.Errors[0].Code}: the configuration cannot be kept as a version: {ex.Errors[0].Describe()}";
            LogNotKept(ex);
        }
    }

    // What was exchanged meanwhile was kept by the exchange.
    private async Task<bool> KeepAsync(CancellationToken cancellationToken)
    {
        var running = desk.Running;
        if (running.Number is not null)
            return true;
        running = running with { Content = await reader.ContentOfAsync(running, cancellationToken) };
        desk.Know(running, number: null);
        var number = await ledger.KeepAsync(running, ExchangeOrder.Start, "esb", cancellationToken);
        if (reader.IsStore && (await versions.FindAsync(number, cancellationToken))?.Version.Revision != running.Model.Revision)
            return true; // another host was first: catches up
        desk.Know(running, number);
        await reader.NoteAsync(desk.Running, cancellationToken);
        return true;
    }

    private async Task CatchUpAsync(CancellationToken cancellationToken)
    {
        var newest = await versions.FindNewestAsync(cancellationToken);
        if (newest is null || newest.Number <= (desk.Running.Number ?? 0))
        {
            _notice = null;
            return;
        }

        if (newest.Number == _refused)
            return;
        var order = new ExchangeOrder(ExchangeOrder.CatchUp, new OperatorDecision(newest.By, newest.Reason), reader.ReadAsync)
        {
            Means = new ExchangeMeans(Migrates: false, Suspends: true), // it was accepted
        };
        try
        {
            await desk.ExchangeAsync(order, cancellationToken);
            _notice = null;
        }
        catch (EsbException ex) when (ex.Code == "ESB-CONFIG-BUSY")
        {
            return; // an exchange is under way
        }
        catch (EsbException ex) when (ex.Code == "ESB-CONFIG-DISK")
        {
            _notice = $"{ex.Code}: version {newest.Number} is in service, but cannot be written on this host: {ex.InnerException?.Message}";
        }
        catch (ConfigurationRefusedException ex)
        {
            _refused = newest.Number;
            _notice =
                $"ESB-CONFIG-DIFFERS: version {newest.Number} is in service, but cannot run on this host: {ex.Errors[0].Code} "
                + ex.Errors[0].Describe();
        }
    }

    [LoggerMessage(EventId = 5045, Level = LogLevel.Debug, Message = "The versions of the configuration could not be read")]
    private partial void LogNotFollowed(Exception exception);

    [LoggerMessage(EventId = 5046, Level = LogLevel.Error, Message = "The configuration cannot be kept as a version")]
    private partial void LogNotKept(Exception exception);
}
