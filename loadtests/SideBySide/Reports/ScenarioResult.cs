using SideBySide.Measuring;

namespace SideBySide.Reports;

/// <summary>Everything that is to be known about one run of one scenario.</summary>
/// <param name="Id">Such as "S1".</param>
/// <param name="Settings">Each side and what a reader must know of it.</param>
internal sealed record ScenarioResult(string Id, RunFacts Facts, IReadOnlyList<SideSettings> Settings, IReadOnlyList<RowResult> Rows)
{
    /// <summary>The same scenario in the runs before, the latest first.</summary>
    public IReadOnlyList<ScenarioResult> Earlier { get; init; } = [];

    /// <summary>The order of the pages: S2 before S12.</summary>
    public int Number => int.Parse(Id[1..], System.Globalization.CultureInfo.InvariantCulture);
}
