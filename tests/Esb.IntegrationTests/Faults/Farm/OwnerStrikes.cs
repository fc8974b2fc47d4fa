using Esb.IntegrationTests.Faults.Benches;
using Esb.IntegrationTests.Faults.Nemeses;

namespace Esb.IntegrationTests.Faults.Farm;

/// <summary>Strikes whichever host runs an endpoint of which there may be one only, again and again. The next round begins when another
/// host runs it, also while hosts of earlier rounds are still struck.</summary>
internal sealed class OwnerStrikes(OwnerWatch watch, HostFarm farm)
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(90);

    private readonly List<(long At, string Name)> _strikes = [];
    private readonly Dictionary<FarmHost, Task> _struck = [];
    private long _end;

    /// <summary>What was done, and how often.</summary>
    public string Summary => string.Join(", ", _strikes.GroupBy(strike => strike.Name).Select(group => $"{group.Key} × {group.Count()}"));

    /// <summary>The longest time without an owner in each round.</summary>
    public IReadOnlyList<TimeSpan> Gaps =>
        [.. _strikes.Select((strike, i) => watch.LongestGap(strike.At, i + 1 < _strikes.Count ? _strikes[i + 1].At : _end))];

    public async Task RunAsync(int rounds, Func<FarmHost, int, Fault> faultOf, CancellationToken cancellationToken)
    {
        var random = new Random(FaultBench.Seed);
        for (var round = 0; round < rounds; round++)
        {
            await Task.Delay(TimeSpan.FromSeconds(1 + random.NextDouble()), cancellationToken);
            var owner = await NextAsync(cancellationToken);
            var fault = faultOf(owner, round);
            var at = TimeProvider.System.GetTimestamp();
            _strikes.Add((at, fault.Name.Replace($" {owner.Name}", "", StringComparison.Ordinal)));
            var nemesis = new Nemesis(FaultBench.Seed + round, line => FaultBench.Log($"{round + 1}: {line} ({owner.Name})")).Track(
                0,
                0,
                (fault, 1)
            );
            _struck[owner] = HealAsync(nemesis.RunAsync(cancellationToken), owner, cancellationToken);
            while (watch.TakenOverAt(owner, at) is null && !_struck[owner].IsCompleted && TimeProvider.System.GetElapsedTime(at) < Longest)
                await Task.Delay(50, cancellationToken);
            FaultBench.Log(
                $"{round + 1}: "
                    + $"{(watch.TakenOverAt(owner, at) is { } taken ? $"taken over after {TimeProvider.System.GetElapsedTime(at, taken).TotalSeconds:0.0} s" : "healed before another took over")}"
            );
        }

        await Task.WhenAll(_struck.Values);
        await WaitForOwnerAsync(TimeProvider.System.GetTimestamp(), cancellationToken);
        _end = TimeProvider.System.GetTimestamp();
    }

    // Without one the last gap would have no end.
    private async Task WaitForOwnerAsync(long healed, CancellationToken cancellationToken)
    {
        while (!watch.IsOwnedSince(healed))
        {
            if (TimeProvider.System.GetElapsedTime(healed) > Longest)
                Assert.Fail($"Nobody ran the endpoint within {Longest.TotalSeconds:0} s of the last repair.");
            await Task.Delay(50, cancellationToken);
        }
    }

    // Somebody must be left to take over.
    private async Task<FarmHost> NextAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            var well = farm.Hosts.Where(host => !_struck.TryGetValue(host, out var healing) || healing.IsCompleted).ToList();
            if (watch.Current() is { } owner && well.Contains(owner) && well.Count > 1)
                return owner;
            await Task.Delay(50, cancellationToken);
        }
    }

    private static async Task HealAsync(Task fault, FarmHost host, CancellationToken cancellationToken)
    {
        await fault;
        await host.WaitForReadyAsync(cancellationToken);
    }
}
