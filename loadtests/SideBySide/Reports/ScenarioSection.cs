using SideBySide.Measuring;

namespace SideBySide.Reports;

/// <summary>One scenario as a section of the page.</summary>
internal static class ScenarioSection
{
    private static readonly Dictionary<string, string> Titles = new()
    {
        ["S1"] = "Direct HTTP proxy",
        ["S2"] = "Relay with header policies, the body never parsed",
        ["S3"] = "Routing by content, XPath on the body",
        ["S4"] = "XSLT on request and response",
        ["S5"] = "HTTP, topic, SQL query of 20 rows, and back",
        ["S6"] = "One way through a topic into SQL inserts",
        ["S7"] = "Itineraries, and messages put together",
        ["S8"] = "Content: schemas, formats, maps, interchanges that are divided",
        ["S9"] = "Kinds of workflows, durable",
        ["S10"] = "Audit on against off",
        ["S11"] = "Bodies of 4 GiB",
        ["S12"] = "One to four hosts",
        ["S15"] = "Wire tap and copies of messages",
    };

    public static string Title(string id) => $"{id}: {Titles[id]}";

    /// <summary>The file with its chart.</summary>
    public static string Image(string id) => $"performance-{id}.svg";

    public static string Write(ScenarioResult result)
    {
        var rows = MarkdownTable.Write(
            [
                "",
                "goal",
                "ours",
                "peer",
                "measured (lowest to highest round)",
                "",
                "runs before",
                "CPU of ours per message",
                "allocated by ours per message",
                "CPU of the peer per message",
            ],
            result.Rows.Select(row =>
                (string[])
                    [
                        row.Case,
                        row.Goal,
                        Side(row.Ours, row.OurRate),
                        Side(row.Peer, row.PeerRate),
                        Figures.Value(row),
                        Figures.Outcome(row),
                        Before(row, result.Earlier),
                        Figures.Microseconds(row.CpuMicroseconds),
                        Figures.Bytes(row.AllocatedBytes),
                        Figures.Microseconds(row.PeerCpuMicroseconds),
                    ]
            )
        );
        var settings = string.Concat(result.Settings.Select(side => $"- {side.Side}: {side.Settings}.\n"));
        return $"### {Title(result.Id)}\n\n![{Title(result.Id)}](images/{Image(result.Id)})\n\n{rows}\n{settings}\n{Write(result.Facts)}{Before(result.Earlier)}\n";
    }

    private static string Write(RunFacts facts) =>
        $"{facts.Date}, commit {facts.Commit}, `{facts.Command}`: {facts.Method}; {facts.Machine}.";

    private static string Before(IReadOnlyList<ScenarioResult> runs) =>
        runs.Count == 0
            ? ""
            : $" The runs before: "
                + $"{string.Join("; ", runs.Select(run => $"{run.Facts.Date}, commit {run.Facts.Commit}, {run.Facts.Machine}"))}.";

    // One for each run: a row that it did not have, or could not measure, is a dash.
    private static string Before(RowResult row, IReadOnlyList<ScenarioResult> runs) =>
        string.Join(
            ", ",
            runs.Select(run =>
                    run.Rows.FirstOrDefault(before =>
                        (before.Case, before.Goal, before.Ours, before.Peer) == (row.Case, row.Goal, row.Ours, row.Peer)
                    )
                )
                .Select(before => before is null || Figures.Median(before) is not { Length: > 0 } median ? "–" : median)
        );

    private static string Side(string name, double? rate) => name.Length == 0 ? "" : $"{name} {Figures.Rate(rate)}";
}
