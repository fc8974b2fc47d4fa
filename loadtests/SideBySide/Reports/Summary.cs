using SideBySide.Measuring;

namespace SideBySide.Reports;

/// <summary>What stands at the end of a run: a line for each row.</summary>
internal static class Summary
{
    public static string Write(IEnumerable<ScenarioResult> results)
    {
        var rows = results.SelectMany(result => result.Rows).ToArray();
        var lines = rows.Select(row =>
            $"{row.Scenario, -4} {row.Case, -22} {row.Ours, -22} {row.Goal, -32} {Figures.Value(row), -22} {Figures.Outcome(row)}".TrimEnd()
        );
        return string.Join('\n', lines)
            + $"\n{Count(rows, row => row.Met == true)} met, {Count(rows, row => row.Met == false)} missed, "
            + $"{Count(rows, row => row.Flaw is not null)} not run";
    }

    private static int Count(RowResult[] rows, Func<RowResult, bool> condition) => rows.Count(condition);
}
