using Esb.Configuration;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Topics;

namespace Esb.Host.Lifecycle;

/// <summary>Starts the parts of a bus in the order that they declare, and stops them the other way round.</summary>
internal sealed partial class BusLifecycle(
    Live<LimitsConfig> limits,
    IEnumerable<IBusPart> parts,
    IEnumerable<IEndpointMonitor> endpoints,
    IEnumerable<ITopicTransport> transports,
    HostState state,
    TimeProvider time,
    ILogger<BusLifecycle> logger)
{
    // What a part may take to let go after it was told that the time is up.
    private static readonly TimeSpan AbandonTime = TimeSpan.FromSeconds(3);

    private readonly List<IBusPart> _started = [];

    /// <summary>Starts every part. An endpoint that fails is reported, and the others are started all the same.</summary>
    /// <exception cref="ConfigurationRefusedException">A part found that it cannot do what is configured, such as listening at a port in use.</exception>
    /// <exception cref="Core.Errors.EsbException">A store or topics cannot start, and trying again would not help: without them nothing can be taken in.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var part in StartOrder.Of(parts))
        {
            _started.Add(part); // also when it fails: it may have got half way
            await StartAsync(part, cancellationToken);
        }

        state.Started();
    }

    /// <summary>Says that it is not ready any more, waits <c>limits.drainDelay</c>, then stops every part within <c>limits.drainTimeout</c>. A cancelled token ends both at once.</summary>
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
            abandoned = CountUnderWay(); // before the parts hear of it and let go
            timeIsUp.Cancel();
        });
        var finished = true;
        foreach (var part in Enumerable.Reverse(_started)) finished &= await StopAsync(part, timeIsUp.Token);

        StopTelemetry.Count(underWay, abandoned);
        return new StopOutcome(finished && abandoned == 0, abandoned);
    }

    // What waits in the queues of a broker is not lost with this process.
    private int CountUnderWay() => endpoints.Sum(monitor => monitor.Endpoints.Sum(endpoint => endpoint.InFlight)) + transports.Sum(transport => transport.Waiting);

    private async Task WaitForOthersToTurnAwayAsync(CancellationToken abandon)
    {
        if (!state.WasReady) return; // nobody was sent here yet
        try
        {
            await Task.Delay(limits.Current.DrainDelay, time, abandon);
        }
        catch (OperationCanceledException) when (abandon.IsCancellationRequested)
        {
            // told a second time
        }
    }

    private async Task StartAsync(IBusPart part, CancellationToken cancellationToken)
    {
        try
        {
            await part.StartAsync(cancellationToken);
        }
        catch (Exception ex) when (part.Stage > BusStage.Topics && ex is not ConfigurationRefusedException && !cancellationToken.IsCancellationRequested)
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

    [LoggerMessage(EventId = 5001, Level = LogLevel.Error, Message = "{Part} did not start; the others go on")]
    private partial void LogStartFailed(Exception exception, string part);

    [LoggerMessage(EventId = 5002, Level = LogLevel.Error, Message = "{Part} did not stop properly")]
    private partial void LogStopFailed(Exception exception, string part);

    [LoggerMessage(EventId = 5003, Level = LogLevel.Warning, Message = "{Part} was stopped with work under way")]
    private partial void LogAbandoned(string part);
}
