namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Checks periodically that the broker has a consumer for each lane that this host consumes; a lane without a consumer is consumed
/// anew.</summary>
/// <remarks>
/// One of several hosts consumes a lane; the others wait at the broker, which does not report them. A missing consumer is therefore noticed
/// only when no other is left to take its place. The order is kept: the old channel is released, after the delivery in progress, before the
/// lane is consumed anew.
/// </remarks>
internal sealed class LaneWatch(
    IReadOnlyList<LaneConsumer> lanes,
    Func<IReadOnlyList<string>, CancellationToken, Task<IReadOnlyDictionary<string, uint>>> count,
    Action<string> lost,
    TimeProvider time
)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(3);

    /// <summary>Checks until stopped.</summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Interval, time);
        try
        {
            while (await timer.WaitForNextTickAsync(stopping))
                await LookAsync(stopping);
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
            if (!consumers.TryGetValue(queue, out var those) || session!.Hears(those > 0))
                continue;
            lost($"the consumer of {queue} was lost");
            await session.EndAsync();
        }
    }
}
