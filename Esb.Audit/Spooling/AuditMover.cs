using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Spooling;

/// <summary>Moves audit facts from the spool to the store, in groups. Facts wait while the store is unavailable; refused facts are put
/// aside, never dropped.</summary>
internal sealed partial class AuditMover(IAuditWriter store, RefusedFacts refused, TimeProvider time, ILogger<AuditMover> logger)
    : IBusPart,
        IDisposable
{
    private const int GroupSize = 1000;

    // A group costs the database about as much as one fact; this is how long a fact waits for its group to fill.
    private static readonly TimeSpan GatheringTime = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan FirstDelay = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan LongestDelay = TimeSpan.FromSeconds(10);

    private readonly CancellationTokenSource _stopping = new();
    private readonly HashSet<Guid> _putAside = []; // of the current group, which may be retried
    private Task _moving = Task.CompletedTask;

    public BusStage Stage => BusStage.Stores;

    public IReadOnlyList<Type> StartsAfter => [typeof(IStorePart)];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        if (store.Spool is not { } spool)
            return Task.CompletedTask;
        AuditTelemetry.QueueLength.Add(spool.Length);
        _moving = Task.Run(() => RunAsync(spool, _stopping.Token), CancellationToken.None);
        return Task.CompletedTask;
    }

    /// <summary>Moves the remaining facts while the store accepts them; the rest is moved after the next start.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _moving;
        if (store.Spool is not { } spool)
            return;

        try
        {
            while (spool.Length > 0 && !cancellationToken.IsCancellationRequested)
                await MoveAsync(spool, await spool.PeekAsync(GroupSize, cancellationToken), cancellationToken);
        }
        catch (Exception ex) when (ex is EsbException or IOException or OperationCanceledException)
        {
            LogLeft(ex, spool.Length);
        }
        finally
        {
            AuditTelemetry.QueueLength.Add(-spool.Length); // no longer this host's
        }
    }

    public void Dispose() => _stopping.Dispose();

    private async Task RunAsync(IAuditSpool spool, CancellationToken cancellationToken)
    {
        var delay = TimeSpan.Zero;
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                await Task.Delay(delay, time, cancellationToken);
                await MoveNextAsync(spool, cancellationToken);
                if (delay > TimeSpan.Zero)
                    LogBack(spool.Length);
                delay = TimeSpan.Zero;
            }
            catch (Exception ex) when (!cancellationToken.IsCancellationRequested) // any exception: the mover must not stop
            {
                if (delay == TimeSpan.Zero)
                    LogAway(ex, spool.Length);
                delay = delay == TimeSpan.Zero ? FirstDelay : TimeSpan.FromTicks(Math.Min(2 * delay.Ticks, LongestDelay.Ticks));
            }
            catch (Exception ex) when (ex is OperationCanceledException or EsbException or IOException)
            {
                return; // stopping, which moves the rest itself
            }
        }
    }

    private async Task MoveNextAsync(IAuditSpool spool, CancellationToken cancellationToken)
    {
        await spool.WaitAsync(cancellationToken);
        if (spool.Length < GroupSize)
            await Task.Delay(GatheringTime, time, cancellationToken);
        await MoveAsync(spool, await spool.PeekAsync(GroupSize, cancellationToken), cancellationToken);
    }

    private async Task MoveAsync(IAuditSpool spool, IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken)
    {
        IReadOnlyList<AuditFact> wanted = _putAside.Count == 0 ? facts : [.. facts.Where(fact => !_putAside.Contains(fact.Id))];
        try
        {
            await store.AppendAsync(wanted, cancellationToken);
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            foreach (var fact in wanted)
                await MoveOneAsync(spool, fact, cancellationToken);
        }

        await spool.ForgetAsync(cancellationToken);
        _putAside.Clear();
        AuditTelemetry.QueueLength.Add(-facts.Count);
    }

    private async Task MoveOneAsync(IAuditSpool spool, AuditFact fact, CancellationToken cancellationToken)
    {
        try
        {
            await store.AppendAsync([fact], cancellationToken);
        }
        catch (EsbException ex) when (!ex.IsTransient)
        {
            await refused.KeepAsync(spool, fact, ex, cancellationToken);
            _putAside.Add(fact.Id);
        }
    }

    [LoggerMessage(EventId = 4001, Level = LogLevel.Warning, Message = "The store accepts no audit facts; {Count} wait on this machine")]
    private partial void LogAway(Exception exception, long count);

    [LoggerMessage(EventId = 4002, Level = LogLevel.Information, Message = "Audit facts are moved to the store again; {Count} wait")]
    private partial void LogBack(long count);

    [LoggerMessage(EventId = 4004, Level = LogLevel.Warning, Message = "{Count} audit facts stay on this machine until the next start")]
    private partial void LogLeft(Exception exception, long count);
}
