using System.Text.Json;

namespace SideBySide.Reports;

/// <summary>The newest result of each scenario, from which the page and the charts are drawn.</summary>
internal static class ResultFile
{
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

    /// <summary>Newer results take the place of older ones of the same scenario.</summary>
    public static IReadOnlyList<ScenarioResult> Merge(IEnumerable<ScenarioResult> older, IReadOnlyList<ScenarioResult> newer) =>
        [.. older.ExceptBy(newer.Select(result => result.Id), result => result.Id).Concat(newer).OrderBy(result => result.Number)];
}
