using System.Globalization;
using Esb.IntegrationTests.Faults.Checking;

namespace Esb.IntegrationTests.Faults.Results;

/// <summary>The table of results: one line for each endpoint of each case. Written anew by each run of the tests; runs side by side that
/// are given one file share it. Thread-safe.</summary>
internal static class FaultResults
{
    private const string Columns = """
        | case | size | seed | endpoint | attempted | accepted | delivered | kept | **lost** | recovered | **unexpected** | duplicated | **effect-duplicated** | flagged | **reordered** | stuck | audit gap | took | |
        | --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
        """;

    private static readonly Lock Writing = new();
    private static bool _begun;

    private static string? Shared => Environment.GetEnvironmentVariable("ESB_FAULTS_RESULTS") is { Length: > 0 } file ? file : null;

    private static string File => Shared ?? Repository.PathOf(".test", "faults.md");

    public static string Add(FaultResult result)
    {
        var row = Row(result);
        lock (Writing)
        {
            if (!_begun)
                Begin();
            System.IO.File.AppendAllText(File, row + "\n");
        }

        return row;
    }

    private static void Begin()
    {
        _begun = true;
        if (Shared is not null && System.IO.File.Exists(Shared))
            return;
        Directory.CreateDirectory(Path.GetDirectoryName(Path.GetFullPath(File))!);
        var now = TimeProvider.System.GetUtcNow();
        System.IO.File.WriteAllText(
            File,
            string.Create(CultureInfo.InvariantCulture, $"Run of {now:yyyy-MM-dd HH:mm} UTC on {Machine.Describe()}.\n\n{Columns}\n")
        );
    }

    private static string Row(FaultResult result)
    {
        var counts = result.Verdict is { } verdict ? Counts(verdict) : string.Join(" | ", Enumerable.Repeat("", 14));
        return string.Create(
            CultureInfo.InvariantCulture,
            $"| {result.Case} | {result.Size} | {result.Seed} | {counts} | {result.Took.TotalSeconds:0} s | {result.Notes} |"
        );
    }

    private static string Counts(Verdict verdict)
    {
        var effects = Verdict.Shown(verdict.IsOnce ? verdict.EffectDuplicated : null);
        var reordered = Verdict.Shown(verdict.IsOrdered ? verdict.Reordered : null);
        return string.Join(
            " | ",
            verdict.Endpoint,
            verdict.Attempted,
            verdict.Acknowledged,
            verdict.Delivered,
            verdict.Kept,
            verdict.Lost,
            verdict.Recovered,
            verdict.Unexpected,
            verdict.Duplicated,
            effects,
            verdict.Flagged,
            reordered,
            Verdict.Shown(verdict.Stuck),
            Verdict.Shown(verdict.AuditGap)
        );
    }
}
