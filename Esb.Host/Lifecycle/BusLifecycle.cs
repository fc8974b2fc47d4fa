using Esb.Configuration;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Host.Versions;

namespace Esb.Host.Lifecycle;

/// <summary>Starts the parts of a bus in their declared order, and stops them in reverse order.</summary>
internal sealed partial class BusLifecycle(
    Live<LimitsConfig> limits,
    IEnumerable<IBusPart> parts,
    IEnumerable<IEndpointMonitor> endpoints,
    IEnumerable<ITopicTransport> transports,
    HostState state,
    TimeProvider time,
    ILogger<BusLifecycle> logger
)
{
    // The time a part may take to stop after the drain time-out.
    private static readonly TimeSpan AbandonTime = TimeSpan.FromSeconds(3);

    private readonly List<IBusPart> _started = [];

    /// <summary>Starts every part. A failed endpoint is logged, and the others start regardless.</summary>
    /// <exception cref="ConfigurationRefusedException">A part cannot do what is configured, such as listening on a port in use.</exception>
    /// <exception cref="NewerVersionException">The host has to start with another version of the configuration.</exception>
    /// <exception cref="Core.Errors.EsbException">A store or the topics failed to start, permanently: without them no message can be
    /// accepted.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var part in StartOrder.Of(parts))
        {
            _started.Add(part); // also on failure: it may have started partially
            await StartAsync(part, cancellationToken);
        }

        state.Started();
    }

    /// <summary>Reports not ready, waits <c>limits.drainDelay</c>, then stops every part within <c>limits.drainTimeout</c>. A cancelled
    /// token ends both at once.</summary>
    public async Task<StopOutcome> StopAsync(CancellationToken abandon)
    {
        state.Stopping();
        await WaitForOthersToTurnAwayAsync(abandon);
        var underWay = CountUnderWay();
        using var drain = new CancellationTokenSource(limits.Current.DrainTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(drain.Token, abandon);
        using var timeIsUp = new CancellationTokenSource();
        var abandoned = 0;
        await using var counting = either.Token.Register(() =>
        {
            abandoned = CountUnderWay(); // before the parts are cancelled and release messages
            timeIsUp.Cancel();
        });
        var finished = true;
        foreach (var part in Enumerable.Reverse(_started))
            finished &= await StopAsync(part, timeIsUp.Token);

        StopTelemetry.Count(underWay, abandoned);
        return new StopOutcome(finished && abandoned == 0, abandoned);
    }

    // Messages in broker queues survive this process and do not count.
    private int CountUnderWay() =>
        endpoints.Sum(monitor => monitor.Endpoints.Sum(endpoint => endpoint.InFlight)) + transports.Sum(transport => transport.Waiting);

    private async Task WaitForOthersToTurnAwayAsync(CancellationToken abandon)
    {
        if (!state.WasReady)
            return; // no traffic has been routed here
        try
        {
            await Task.Delay(limits.Current.DrainDelay, time, abandon);
        }
        catch (OperationCanceledException) when (abandon.IsCancellationRequested)
        {
            // second stop signal
        }
    }

    private async Task StartAsync(IBusPart part, CancellationToken cancellationToken)
    {
        try
        {
            await part.StartAsync(cancellationToken);
        }
        catch (Exception ex)
            when (part.Stage > BusStage.Topics
                && ex is not (ConfigurationRefusedException or NewerVersionException)
                && !cancellationToken.IsCancellationRequested
            )
        {
            LogStartFailed(ex, part.GetType().Name);
        }
    }

    private async Task<bool> StopAsync(IBusPart part, CancellationToken cancellationToken)
    {
        using var abandon = new CancellationTokenSource();
        await using var timeIsUp = cancellationToken.Register(() => abandon.CancelAfter(AbandonTime));
        try
        {
            await part.StopAsync(cancellationToken).WaitAsync(abandon.Token);
            return true;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            LogAbandoned(part.GetType().Name);
            return false;
        }
        catch (Exception ex)
        {
            LogStopFailed(ex, part.GetType().Name);
            return false;
        }
    }

    [LoggerMessage(EventId = 5001, Level = LogLevel.Error, Message = "{Part} did not start; the others run")]
    private partial void LogStartFailed(Exception exception, string part);

    [LoggerMessage(EventId = 5002, Level = LogLevel.Error, Message = "{Part} did not stop properly")]
    private partial void LogStopFailed(Exception exception, string part);

    [LoggerMessage(EventId = 5003, Level = LogLevel.Warning, Message = "{Part} was stopped with work in flight")]
    private partial void LogAbandoned(string part);
}
