using System.Diagnostics;
using SideBySide.Servers;

namespace SideBySide.Measuring;

/// <summary>What a side uses up while it is under load.</summary>
/// <param name="processorTime">Of the processes of the side so far.</param>
/// <param name="probe">Tells the allocated bytes; null for what is no .NET process.</param>
/// <param name="settle">Waits for what the side still does for its messages, which counts; null where it does nothing.</param>
internal sealed class Meter(Func<TimeSpan> processorTime, HostProbe? probe = null, Func<CancellationToken, Task>? settle = null)
{
    /// <summary>The rate is one that lasts: a measurement ends when all facts of its messages are in the store.</summary>
    public static Meter Of(EsbHost host) => new(() => host.ProcessorTime, host.Probe, host.StoreFactsAsync);

    /// <param name="load">Returns the messages it sent, the rate, and what was wrong.</param>
    public async Task<Sample> MeasureAsync(Func<CancellationToken, Task<Load>> load, CancellationToken cancellationToken)
    {
        var (time, bytes) = (processorTime(), await AllocatedAsync(cancellationToken));

        var (messages, perSecond, flaw) = await load(cancellationToken);

        if (flaw is not null)
            return Sample.Wrong(flaw);
        if (settle is not null)
        {
            var ended = Stopwatch.GetTimestamp();
            await settle(cancellationToken);
            perSecond = messages / ((messages / perSecond) + Stopwatch.GetElapsedTime(ended).TotalSeconds);
        }

        var microseconds = (processorTime() - time).TotalMicroseconds / messages;
        return new Sample(perSecond, microseconds, (await AllocatedAsync(cancellationToken) - bytes) / (double?)messages);
    }

    private async Task<long?> AllocatedAsync(CancellationToken cancellationToken) =>
        probe is null ? null : await probe.AllocatedBytesAsync(cancellationToken);
}
