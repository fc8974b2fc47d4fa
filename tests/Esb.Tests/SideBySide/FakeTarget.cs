using SideBySide;
using SideBySide.Measuring;

namespace Esb.Tests.SideBySide;

/// <summary>A side whose rounds are known beforehand; the first is its warm-up.</summary>
internal sealed class FakeTarget(string name, params Sample[] samples) : ITarget
{
    private int _next;

    public string Name => name;

    public string Settings => $"settings of {name}";

    /// <summary>Why it cannot be measured at all.</summary>
    public string? Missing { get; init; }

    public List<TimeSpan> Durations { get; } = [];

    public Task<string?> CheckAsync(CancellationToken cancellationToken) =>
        Missing is null ? Task.FromResult<string?>(null) : throw new NotRunException(Missing);

    public Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken)
    {
        Durations.Add(duration);
        return Task.FromResult(samples[_next++]);
    }
}
