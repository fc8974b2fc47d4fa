using System.Collections.Concurrent;

namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>Does what is bad at random moments. The same seed gives the same faults, in the same order, with the same pauses.</summary>
internal sealed class Nemesis(int seed, Action<string> log)
{
    private readonly ConcurrentQueue<Strike> _strikes = new();
    private readonly List<Func<CancellationToken, Task>> _tracks = [];

    public IReadOnlyList<Strike> Strikes => [.. _strikes];

    /// <summary>Adds a track: its faults come one after the other, in random order, beside those of other tracks.</summary>
    /// <param name="shortestPause">Between two faults, in seconds.</param>
    /// <param name="longestPause">Between two faults, in seconds.</param>
    /// <param name="faults">Each with how often it comes.</param>
    public Nemesis Track(double shortestPause, double longestPause, params (Fault Fault, int Times)[] faults)
    {
        var random = new Random(seed + _tracks.Count);
        var order = faults.SelectMany(entry => Enumerable.Repeat(entry.Fault, entry.Times)).ToArray();
        random.Shuffle(order);
        _tracks.Add(cancellationToken => RunAsync(random, order, shortestPause, longestPause, cancellationToken));
        return this;
    }

    /// <summary>Runs all tracks to their end; what was done is mended in any case.</summary>
    public Task RunAsync(CancellationToken cancellationToken) => Task.WhenAll(_tracks.Select(track => track(cancellationToken)));

    private async Task RunAsync(
        Random random,
        IEnumerable<Fault> faults,
        double shortestPause,
        double longestPause,
        CancellationToken cancellationToken
    )
    {
        foreach (var fault in faults)
        {
            await Task.Delay(Between(random, TimeSpan.FromSeconds(shortestPause), TimeSpan.FromSeconds(longestPause)), cancellationToken);
            await StrikeAsync(fault, Between(random, fault.Shortest, fault.Longest), cancellationToken);
        }
    }

    private async Task StrikeAsync(Fault fault, TimeSpan duration, CancellationToken cancellationToken)
    {
        var struckAt = TimeProvider.System.GetUtcNow();
        log($"{fault.Name} for {duration.TotalSeconds:0.0} s");
        try
        {
            await fault.StrikeAsync();
            await Task.Delay(duration, cancellationToken);
        }
        finally
        {
            await fault.HealAsync();
        }

        _strikes.Enqueue(new Strike(fault.Name, struckAt, TimeProvider.System.GetUtcNow()));
    }

    private static TimeSpan Between(Random random, TimeSpan shortest, TimeSpan longest) =>
        shortest + ((longest - shortest) * random.NextDouble());
}
