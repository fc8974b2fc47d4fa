using Esb.Core;
using Esb.Core.Errors;
using Esb.Core.Replays;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Replay;

/// <summary>Claims unowned replay jobs, including those of dead hosts, and runs several at once.</summary>
internal sealed partial class ReplayRunner(IReplayJobStore jobs, ReplayServices services, ReplaySignal signal, ILogger<ReplayRunner> logger)
    : IBusPart,
        IDisposable
{
    private const int MaxRuns = 4;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(2);

    private readonly string _owner = $"{Environment.MachineName}/{Guid.NewGuid():N}";
    private readonly CancellationTokenSource _stopping = new();
    private Task _running = Task.CompletedTask;

    public BusStage Stage => BusStage.Outbound;

    // The jobs send to the queues of the endpoints.
    public IReadOnlyList<Type> StartsAfter => [typeof(OutboundEndpoints)];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _running = Task.Run(() => RunAsync(_stopping.Token), CancellationToken.None);
        return Task.CompletedTask;
    }

    /// <summary>Lets in-flight letters be confirmed and marked; other hosts may continue the jobs at once.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _running;
    }

    public void Dispose() => _stopping.Dispose();

    private async Task RunAsync(CancellationToken stopping)
    {
        var runs = new List<Task>();
        while (!stopping.IsCancellationRequested)
        {
            runs.RemoveAll(run => run.IsCompleted);
            try
            {
                while (runs.Count < MaxRuns && await jobs.ClaimAsync(_owner, stopping) is { } claim)
                    runs.Add(new ReplayRun(claim, services).RunAsync(stopping));
                await signal.WaitAsync(Interval, services.Time, stopping);
            }
            catch (OperationCanceledException) when (stopping.IsCancellationRequested)
            {
                break;
            }
            catch (EsbException ex)
            {
                LogNotAsked(ex.Message);
                await Task.Delay(Interval, services.Time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
            catch (Exception ex)
            {
                LogUnforeseen(ex); // without the catch this host would silently run no more jobs
                await Task.Delay(Interval, services.Time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }

        await Task.WhenAll(runs);
    }

    [LoggerMessage(EventId = 2611, Level = LogLevel.Error, Message = "The replay jobs could not be read from the store; trying again")]
    private partial void LogUnforeseen(Exception exception);

    [LoggerMessage(EventId = 2610, Level = LogLevel.Debug, Message = "The replay jobs cannot be read from the store: {Reason}")]
    private partial void LogNotAsked(string reason);
}
