namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Looks again and again whether the broker has a consumer for each lane that this host consumes, and has the lane consumed anew where nobody does.</summary>
/// <remarks>
/// Of several hosts one consumes a lane, the others wait their turn at the broker, which does not tell of them. So a consumer that is missing is noticed
/// as soon as none is left that could take its place. The order is kept, as whoever consumes anew lets go of the channel before, after the delivery under way.
/// </remarks>
internal sealed class LaneWatch(IReadOnlyList<LaneConsumer> lanes, Func<IReadOnlyList<string>, CancellationToken, Task<IReadOnlyDictionary<string, uint>>> count, Action<string> lost, TimeProvider time)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(3);

    /// <summary>Looks until it is stopped.</summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Interval, time);
        try
        {
            while (await timer.WaitForNextTickAsync(stopping)) await LookAsync(stopping);
        }
        catch (Exception) when (stopping.IsCancellationRequested)
        {
            // The receiver ended.
        }
    }

    private async Task LookAsync(CancellationToken stopping)
    {
        var consumed = lanes.Select(lane => (lane.Queue, lane.Session)).Where(lane => lane.Session is not null).ToList();
        var consumers = await count([.. consumed.Select(lane => lane.Queue)], stopping);
        foreach (var (queue, session) in consumed)
        {
            if (!consumers.TryGetValue(queue, out var those) || session!.Hears(those > 0)) continue;
            lost($"the consumer of {queue} was lost");
            await session.EndAsync();
        }
    }
}
