using SideBySide.Reports.Charts;

namespace SideBySide.Reports;

/// <summary>Writes results where people look: into the documentation, or, from a run that was too short for that, into a folder of
/// results.</summary>
/// <param name="folder">Holds <c>performance.md</c>, <c>performance.json</c> and <c>images</c>.</param>
internal sealed class Publication(string folder)
{
    private string Data => Path.Combine(folder, "performance.json");

    private string Page => Path.Combine(folder, "performance.md");

    private string Images => Path.Combine(folder, "images");

    public static Publication For(Surroundings surroundings, bool isQuick) =>
        new(Path.Combine(surroundings.Root, isQuick ? "loadtests/results/compare" : "docs/results"));

    /// <returns>The page that was written.</returns>
    public string Publish(IReadOnlyList<ScenarioResult> newer)
    {
        Directory.CreateDirectory(Images);
        var results = ResultFile.Merge(ResultFile.Read(Data), newer);
        ResultFile.Write(Data, results);
        File.WriteAllText(Path.Combine(Images, "performance.svg"), GoalChart.Write(results));
        foreach (var result in results)
            File.WriteAllText(Path.Combine(Images, ScenarioSection.Image(result.Id)), RateChart.Write(result));
        var page = File.Exists(Page) ? File.ReadAllText(Page) : "# Measured\n";
        File.WriteAllText(
            Page,
            PerformancePage.Replace(page, $"![Goals](images/performance.svg)\n\n{string.Join('\n', results.Select(ScenarioSection.Write))}")
        );
        return Page;
    }
}
