using SideBySide.Measuring;

namespace SideBySide.Reports.Charts;

/// <summary>The rates of all sides of a scenario, case by case.</summary>
internal static class RateChart
{
    public static string Write(ScenarioResult result) =>
        BarChart.Write(
            $"{ScenarioSection.Title(result.Id)}: messages per second",
            [
                .. result
                    .Rows.GroupBy(row => row.Case)
                    .Select(rows => new BarGroup(rows.Key, Bars([.. rows])))
                    .Where(group => group.Bars.Count > 0),
            ]
        );

    private static Bar[] Bars(IReadOnlyList<RowResult> rows) =>
        [
            .. rows.Select(row => Bar(row.Ours, row.OurRate, "ours")).OfType<Bar>().Distinct().Take(1),
            .. rows.Select(row => Bar(row.Peer, row.PeerRate, "peer")).OfType<Bar>().Distinct(),
        ];

    private static Bar? Bar(string side, double? rate, string tone) =>
        rate is { } value ? new Bar(side, value, Figures.Rate(value), tone) : null;
}
