using SideBySide.Measuring;
using SideBySide.Scenarios;

namespace SideBySide.Topics;

/// <summary>A farm that loses a host in the middle of each round: every message must arrive all the same.</summary>
internal sealed class KilledTarget(string name, string settings, Farm farm, ITarget load) : ITarget
{
    public string Name => name;

    public string Settings => settings;

    public string? WarmKey => null; // the same hosts were under load before

    public Task<string?> CheckAsync(CancellationToken cancellationToken) => load.CheckAsync(cancellationToken);

    public async Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        var measuring = load.MeasureAsync(duration, cancellationToken);
        await Task.Delay(duration * 0.4, cancellationToken);
        await farm.KillAsync();
        var sample = await measuring;
        await farm.AddAsync(cancellationToken);
        return sample with { CpuMicroseconds = null }; // what the killed one used is gone with it
    }
}
