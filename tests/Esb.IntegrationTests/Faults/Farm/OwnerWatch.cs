using System.Collections.Concurrent;

namespace Esb.IntegrationTests.Faults.Farm;

/// <summary>Asks every host again and again whether it runs an endpoint of which there may be one only.</summary>
internal sealed class OwnerWatch(HostFarm farm, string endpoint)
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan Sharp = TimeSpan.FromMilliseconds(400); // an answer that takes longer tells of no certain moment

    private readonly ConcurrentQueue<Sample> _samples = new();

    public int Samples => _samples.Count;

    public Task RunAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(farm.Hosts.Select(host => WatchAsync(host, cancellationToken)));

    /// <summary>The host that runs it; null while none says so.</summary>
    public FarmHost? Current()
    {
        var latest = _samples.GroupBy(sample => sample.Host).Select(group => group.MaxBy(sample => sample.At)!);
        return latest.Where(sample => sample.IsOwner).MaxBy(sample => sample.At)?.Host;
    }

    /// <summary>Moments at which a host ran it while another one did so shortly before and shortly after.</summary>
    public int CountOverlaps()
    {
        var byHost = _samples
            .GroupBy(sample => sample.Host)
            .ToDictionary(group => group.Key, group => group.OrderBy(sample => sample.At).ToList());
        return _samples
            .Where(sample => sample.IsOwner)
            .Count(sample => byHost.Any(other => other.Key != sample.Host && IsOwnerAround(other.Value, sample.At)));
    }

    /// <summary>When a host other than this one was first seen to run it after a moment; null while none was.</summary>
    public long? TakenOverAt(FarmHost from, long since) =>
        _samples.Where(sample => sample.IsOwner && sample.Host != from && sample.At > since).Min(sample => (long?)sample.At);

    /// <summary>Whether a host was seen to run it after a moment.</summary>
    public bool IsOwnedSince(long moment) => _samples.Any(sample => sample.IsOwner && sample.At > moment);

    /// <summary>The longest time between two moments, at the first of which the one before may have ended, without any host that ran it;
    /// until the second where none was seen.</summary>
    public TimeSpan LongestGap(long from, long to)
    {
        var owned = _samples.Where(sample => sample.IsOwner).Select(sample => sample.At).Order().ToList();
        var before = owned.LastOrDefault(at => at <= from, from);
        var within = owned.Where(at => at > from && at < to).Prepend(before).ToList();
        return within
            .Zip(within.Skip(1), (first, next) => TimeProvider.System.GetElapsedTime(first, next))
            .DefaultIfEmpty(TimeProvider.System.GetElapsedTime(before, to))
            .Max();
    }

    private static bool IsOwnerAround(List<Sample> samples, long time)
    {
        var after = samples.FindIndex(sample => sample.At >= time);
        return after > 0
            && samples[after].IsOwner
            && samples[after - 1].IsOwner
            && TimeProvider.System.GetElapsedTime(samples[after - 1].At, samples[after].At) < Sharp * 2;
    }

    private async Task WatchAsync(FarmHost host, CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
        {
            var asked = TimeProvider.System.GetTimestamp();
            var isOwner = await host.IsRunningAsync(endpoint);
            if (TimeProvider.System.GetElapsedTime(asked) < Sharp)
                _samples.Enqueue(new Sample(host, asked, isOwner));
            await Task.Delay(Interval, CancellationToken.None);
        }
    }

    private sealed record Sample(FarmHost Host, long At, bool IsOwner);
}
