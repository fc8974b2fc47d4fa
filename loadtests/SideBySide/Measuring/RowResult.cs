namespace SideBySide.Measuring;

/// <summary>A measured line; kept as JSON, so that pages and charts can be drawn again.</summary>
/// <param name="Value">The ratio, the rate or the bytes that the goal is about.</param>
/// <param name="Met">Null where there is no goal, or where it did not run.</param>
/// <param name="Flaw">Why there are no figures: wrong answers, a side that did not run.</param>
internal sealed record RowResult(
    string Scenario,
    string Case,
    string Goal,
    double? Least,
    string Ours,
    double? OurRate,
    string Peer,
    double? PeerRate,
    Spread? Value,
    bool? Met,
    double? CpuMicroseconds,
    double? AllocatedBytes,
    double? PeerCpuMicroseconds,
    string? Flaw
)
{
    /// <summary>Whether <see cref="Value"/> is a rate; the peer then only stands beside it.</summary>
    public bool IsRate { get; init; }

    public static RowResult NotRun(string scenario, string @case, string goal, string reason) =>
        new(scenario, @case, goal, null, "", null, "", null, null, null, null, null, null, reason);
}
