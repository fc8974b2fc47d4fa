using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Itineraries;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Workflows.Workflows.Running;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Holding;

/// <summary>Fires the timers of held messages and sends what continues, as long as the bus runs and a step holds messages, or has held
/// some.</summary>
internal sealed partial class HoldsPart(
    Live<HoldCatalog> catalog,
    Holder holder,
    HoldEngine engine,
    OutboxPublisher outbox,
    IItineraryRuns itineraries,
    ITimerStore timers,
    IOutboxStore messages,
    StoreConfig config,
    TimeProvider time,
    ILoggerFactory loggers
) : IBusPart, IRevisionPart
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan CleaningInterval = TimeSpan.FromMinutes(10);

    private readonly ILogger _logger = loggers.CreateLogger<HoldsPart>();
    private readonly SemaphoreSlim _opening = new(1, 1);
    private readonly CancellationTokenSource _stopping = new();
    private TimerDispatcher? _dispatcher;
    private Task _begun = Task.CompletedTask;
    private Task _cleaning = Task.CompletedTask;

    public BusStage Stage => BusStage.Outbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(IOutboundGround)];

    public Task StartAsync(CancellationToken cancellationToken) => BeginAsync(cancellationToken);

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _begun;
        if (_dispatcher is not null)
            await _dispatcher.DisposeAsync();
        await _cleaning;
    }

    public Task WelcomeAsync(Revision next, CancellationToken cancellationToken) => Task.CompletedTask;

    public Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken) => BeginAsync(cancellationToken);

    private async Task BeginAsync(CancellationToken cancellationToken)
    {
        if (!catalog.Current.Any || _dispatcher is not null)
            return;
        await _begun;
        _begun = InsistAsync();
        await Task.WhenAny(_begun, Task.Delay(Patience, time, cancellationToken));
    }

    private async Task InsistAsync()
    {
        while (!_stopping.IsCancellationRequested)
        {
            try
            {
                await OpenAsync();
                return;
            }
            catch (EsbException ex)
            {
                LogNotOpened(ex.Message);
                await WaitAsync(Pause);
            }
        }
    }

    private async Task OpenAsync()
    {
        await _opening.WaitAsync();
        try
        {
            if (_dispatcher is not null)
                return;
            if (!config.IsShared)
            {
                await timers.ReleaseAsync(HeldTimers.Release, CancellationToken.None); // claims of the process before
                await messages.ReleaseAsync(CancellationToken.None);
            }

            await TellAsync();
            outbox.Start();
            var dispatcher = new TimerDispatcher(timers, HeldTimers.All, engine.FireAsync, time, loggers.CreateLogger<TimerDispatcher>());
            dispatcher.Start();
            holder.FiresBy(dispatcher.Fire);
            _dispatcher = dispatcher;
            _cleaning = CleanAsync();
        }
        finally
        {
            _opening.Release();
        }
    }

    // What waits at steps that are gone is easily forgotten.
    private async Task TellAsync()
    {
        foreach (var waiting in await holder.Store.CountAsync(CancellationToken.None))
        {
            var (process, place) = HeldMessage.Read(waiting.Step);
            if (!catalog.Current.Has(waiting.Step))
                LogGone(waiting.Count, process, place);
        }
    }

    private async Task CleanAsync()
    {
        do
        {
            try
            {
                await holder.Store.RemoveOldAsync(_stopping.Token);
                await itineraries.RemoveOldAsync(_stopping.Token);
            }
            catch (Exception ex) when (ex is EsbException or OperationCanceledException)
            {
                if (!_stopping.IsCancellationRequested)
                    LogNotCleaned(ex.Message);
            }
        } while (await WaitAsync(CleaningInterval));
    }

    private async Task<bool> WaitAsync(TimeSpan pause)
    {
        await Task.Delay(pause, time, _stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return !_stopping.IsCancellationRequested;
    }

    [LoggerMessage(EventId = 3072, Level = LogLevel.Warning, Message = "Held messages do not continue yet: {Reason}")]
    private partial void LogNotOpened(string reason);

    [LoggerMessage(
        EventId = 3073,
        Level = LogLevel.Warning,
        Message = "{Count} messages wait at the step {Step} of process {Process}, which the configuration has no more"
    )]
    private partial void LogGone(long count, string process, string step);

    [LoggerMessage(EventId = 3074, Level = LogLevel.Warning, Message = "Old records of held messages were not removed: {Reason}")]
    private partial void LogNotCleaned(string reason);
}
