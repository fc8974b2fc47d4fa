using System.Text.Json;

namespace Esb.Storage.Postgres;

/// <summary>Names and values that facts and messages carry, as the database keeps them.</summary>
internal static class PostgresFields
{
    // An entry of an index has room for 2,700 bytes.
    public const int IndexedCharacters = 256;

    public static string ToJson(IReadOnlyDictionary<string, string> fields)
    {
        var cleaned = new Dictionary<string, string>(fields.Count);
        foreach (var (name, value) in fields) cleaned[PostgresText.Clean(name)] = PostgresText.Clean(value);
        return JsonSerializer.Serialize(cleaned, StorageJson.Default.IReadOnlyDictionaryStringString);
    }

    public static IReadOnlyDictionary<string, string> FromJson(string json) =>
        JsonSerializer.Deserialize(json, StorageJson.Default.IReadOnlyDictionaryStringString)!;

    /// <summary>The name and the value as they are indexed.</summary>
    public static (string Name, string Value) Indexed(KeyValuePair<string, string> field) =>
        (PostgresText.Cut(PostgresText.Clean(field.Key), IndexedCharacters), PostgresText.Cut(PostgresText.Clean(field.Value), IndexedCharacters));

    /// <summary>Whether the index holds all of the name and of the value.</summary>
    public static bool IsIndexedWhole(KeyValuePair<string, string> field) =>
        PostgresText.Clean(field.Key).Length <= IndexedCharacters && PostgresText.Clean(field.Value).Length <= IndexedCharacters;
}
