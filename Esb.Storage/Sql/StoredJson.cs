using System.Text.Json;
using Esb.Core.Storage;

namespace Esb.Storage.Sql;

/// <summary>What is kept as JSON in a column.</summary>
internal static class StoredJson
{
    public static string Of(IEnumerable<KeyValuePair<string, string>> fields)
    {
        var cleaned = new Dictionary<string, string>();
        foreach (var (name, value) in fields)
            cleaned[SqlText.Clean(name)] = SqlText.Clean(value);
        return JsonSerializer.Serialize(cleaned, StorageJson.Default.IReadOnlyDictionaryStringString);
    }

    public static string Of(IEnumerable<FailedAttempt> failures) =>
        JsonSerializer.Serialize(
            [.. failures.Select(failure => failure with { Code = SqlText.Clean(failure.Code), Reason = SqlText.Clean(failure.Reason) })],
            StorageJson.Default.IReadOnlyListFailedAttempt
        );

    public static IReadOnlyDictionary<string, string> Fields(string json) => TryFields(json)!;

    /// <summary>Null where the JSON is <c>null</c>.</summary>
    public static IReadOnlyDictionary<string, string>? TryFields(string json) =>
        JsonSerializer.Deserialize(json, StorageJson.Default.IReadOnlyDictionaryStringString);

    public static IReadOnlyDictionary<string, string> Fields(this SqlRow row, string column) => Fields(row.Text(column));

    public static IReadOnlyList<FailedAttempt> Failures(this SqlRow row, string column) =>
        row.Json(column, StorageJson.Default.IReadOnlyListFailedAttempt);
}
