using SideBySide.Measuring;

namespace SideBySide.Targets;

/// <summary>A side that could not be had: its rows say why.</summary>
internal sealed class MissingTarget(string name, string reason) : ITarget
{
    public string Name => name;

    public string Settings => reason;

    public Task<string?> CheckAsync(CancellationToken cancellationToken) => throw new NotRunException(reason);

    public Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken) => throw new NotRunException(reason);
}
