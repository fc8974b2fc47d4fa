namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Looks again and again whether the broker has a consumer for each lane that this host consumes, and has the lane consumed anew where nobody does.</summary>
/// <remarks>
/// Of several hosts one consumes a lane, the others wait their turn at the broker, which does not tell of them. So a consumer that is missing is noticed
/// as soon as none is left that could take its place. The order is kept, as whoever consumes anew lets go of the channel before, after the delivery under way.
/// </remarks>
internal sealed class LaneWatch(IReadOnlyList<LaneConsumer> lanes, Func<string, CancellationToken, Task<uint?>> count, Action<string> lost, TimeProvider time)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(3);

    /// <summary>Looks until it is stopped.</summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Interval, time);
        try
        {
            while (await timer.WaitForNextTickAsync(stopping))
            {
                foreach (var lane in lanes) await LookAsync(lane, stopping);
            }
        }
        catch (Exception) when (stopping.IsCancellationRequested)
        {
            // The receiver ended.
        }
    }

    private async Task LookAsync(LaneConsumer lane, CancellationToken stopping)
    {
        if (lane.Session is not { } session || await count(lane.Queue, stopping) is not { } consumers || session.Hears(consumers > 0)) return;
        lost($"the consumer of {lane.Queue} was lost");
        await session.EndAsync();
    }
}
