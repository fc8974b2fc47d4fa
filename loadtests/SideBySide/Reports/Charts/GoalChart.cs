using SideBySide.Measuring;

namespace SideBySide.Reports.Charts;

/// <summary>How far every ratio is from its goal, all in one picture.</summary>
internal static class GoalChart
{
    /// <summary>Beyond this a bar says nothing more, and the others would become too short to compare.</summary>
    private const double Longest = 2;

    public static string Write(IReadOnlyList<ScenarioResult> results) =>
        BarChart.Write(
            "Measured ratios, as multiples of their goals (the dashed line)",
            [.. results.Select(Group).Where(group => group.Bars.Count > 0)]
        );

    private static BarGroup Group(ScenarioResult result) =>
        new(
            ScenarioSection.Title(result.Id),
            [.. result.Rows.Where(row => row is { Value: not null, Least: not null }).Select(Bar)],
            Mark: 1,
            Scale: Longest
        );

    private static Bar Bar(RowResult row) =>
        new($"{row.Case}: {row.Goal}", row.Value!.Median / row.Least!.Value, Figures.Median(row), row.Met == true ? "met" : "missed");
}
