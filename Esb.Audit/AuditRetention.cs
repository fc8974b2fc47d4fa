using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Audit;

/// <summary>Lets go of audit facts that are older than the configured retention, every hour.</summary>
internal sealed partial class AuditRetention(AuditConfig config, IAuditRetention store, TimeProvider time, ILogger<AuditRetention> logger) : IBusPart, IDisposable
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

    private async Task RunAsync(CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                await store.RemoveBeforeAsync(time.GetUtcNow() - config.Retention, cancellationToken);
            }
            catch (Exception ex) when (ex is EsbException or IOException)
            {
                LogNotRemoved(ex.Message);
            }
            catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
            {
                return;
            }

            await Task.Delay(Interval, time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    [LoggerMessage(EventId = 4005, Level = LogLevel.Warning, Message = "old audit facts could not be removed; trying again in an hour: {Reason}")]
    private partial void LogNotRemoved(string reason);
}
