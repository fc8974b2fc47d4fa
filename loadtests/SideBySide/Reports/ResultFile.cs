using System.Text.Json;

namespace SideBySide.Reports;

/// <summary>The newest result of each scenario with those of the runs before, from which the page and the charts are drawn.</summary>
internal static class ResultFile
{
    // So that the page shows three runs.
    private const int MostEarlier = 2;

    private static readonly JsonSerializerOptions Format = new()
    {
        WriteIndented = true,
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    public static IReadOnlyList<ScenarioResult> Read(string file) =>
        File.Exists(file) ? JsonSerializer.Deserialize<ScenarioResult[]>(File.ReadAllText(file), Format)! : [];

    public static void Write(string file, IReadOnlyList<ScenarioResult> results) =>
        File.WriteAllText(file, JsonSerializer.Serialize(results, Format) + "\n");

    /// <summary>Newer results take the place of older ones of the same scenario, which become those of runs before.</summary>
    public static IReadOnlyList<ScenarioResult> Merge(IReadOnlyList<ScenarioResult> older, IReadOnlyList<ScenarioResult> newer)
    {
        var before = older.ToDictionary(
            result => result.Id,
            result => (IReadOnlyList<ScenarioResult>)[result with { Earlier = [] }, .. result.Earlier]
        );
        var renewed = newer.Select(result => result with { Earlier = [.. before.GetValueOrDefault(result.Id, []).Take(MostEarlier)] });
        return [.. older.ExceptBy(newer.Select(result => result.Id), result => result.Id).Concat(renewed).OrderBy(result => result.Number)];
    }
}
