using System.Text.Json;

namespace Esb.Storage.Postgres;

/// <summary>Names and values that facts and messages carry, as the database keeps them.</summary>
internal static class PostgresFields
{
    // An entry of an index has room for 2,700 bytes.
    private const int IndexedCharacters = 256;

    public static string ToJson(IEnumerable<KeyValuePair<string, string>> fields) =>
        JsonSerializer.Serialize(
            fields.ToDictionary(field => PostgresText.Clean(field.Key), field => PostgresText.Clean(field.Value)),
            StorageJson.Default.IReadOnlyDictionaryStringString);

    public static IReadOnlyDictionary<string, string> FromJson(string json) =>
        JsonSerializer.Deserialize(json, StorageJson.Default.IReadOnlyDictionaryStringString)!;

    /// <summary>The name and the value as they are indexed.</summary>
    public static (string Name, string Value) Indexed(KeyValuePair<string, string> field) =>
        (PostgresText.Cut(PostgresText.Clean(field.Key), IndexedCharacters), PostgresText.Cut(PostgresText.Clean(field.Value), IndexedCharacters));
}
