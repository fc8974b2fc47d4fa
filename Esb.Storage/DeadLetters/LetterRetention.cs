using Esb.Core;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.DeadLetters;

/// <summary>Lets go of replayed and discarded dead letters, and of jobs that are over, once they are older than <c>store.retention</c>; every hour.</summary>
internal sealed partial class LetterRetention(StoreConfig config, ILetterRetention store, TimeProvider time, ILogger<LetterRetention> logger) : IBusPart, IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromHours(1);

    private readonly CancellationTokenSource _stopping = new();
    private Task _removing = Task.CompletedTask;

    public BusStage Stage => BusStage.Stores;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _removing = Task.Run(() => RunAsync(_stopping.Token), CancellationToken.None);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _removing;
    }

    public void Dispose() => _stopping.Dispose();

    private async Task RunAsync(CancellationToken stopping)
    {
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                var removed = await store.RemoveSettledAsync(time.GetUtcNow() - config.Retention, stopping);
                if (removed is not (0, 0)) LogRemoved(removed.Letters, removed.Jobs);
            }
            catch (Exception ex) when (ex is EsbException or IOException)
            {
                LogNotRemoved(ex.Message);
            }
            catch (OperationCanceledException) when (stopping.IsCancellationRequested)
            {
                return;
            }

            await Task.Delay(Interval, time, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    [LoggerMessage(EventId = 4516, Level = LogLevel.Information, Message = "{Letters} replayed or discarded dead letters and {Jobs} replay jobs were removed: their time is over")]
    private partial void LogRemoved(long letters, long jobs);

    [LoggerMessage(EventId = 4517, Level = LogLevel.Warning, Message = "settled dead letters could not be removed; trying again in an hour: {Reason}")]
    private partial void LogNotRemoved(string reason);
}
