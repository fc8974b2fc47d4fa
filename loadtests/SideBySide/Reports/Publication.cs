namespace SideBySide.Reports;

/// <summary>Writes results where people look: into the documentation, or, from a run that was too short for that, into a folder of results.</summary>
/// <param name="folder">Holds <c>performance.md</c>, <c>performance.json</c> and <c>images</c>.</param>
internal sealed class Publication(string folder)
{
    private string Data => Path.Combine(folder, "performance.json");

    private string Page => Path.Combine(folder, "performance.md");

    public static Publication For(Surroundings surroundings, bool isQuick) =>
        new(Path.Combine(surroundings.Root, isQuick ? "loadtests/results/compare" : "docs"));

    /// <returns>The page that was written.</returns>
    public string Publish(IReadOnlyList<ScenarioResult> newer)
    {
        Directory.CreateDirectory(folder);
        var results = ResultFile.Merge(ResultFile.Read(Data), newer);
        ResultFile.Write(Data, results);
        var page = File.Exists(Page) ? File.ReadAllText(Page) : "# Measured\n";
        File.WriteAllText(Page, PerformancePage.Replace(page, string.Join('\n', results.Select(ScenarioSection.Write))));
        return Page;
    }
}
