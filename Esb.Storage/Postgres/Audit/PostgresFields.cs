using Esb.Storage.Sql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>Names and values that facts carry, as the database indexes them.</summary>
internal static class PostgresFields
{
    // An entry of an index has room for 2,700 bytes.
    public const int IndexedCharacters = 256;

    /// <summary>The name and the value as they are indexed.</summary>
    public static (string Name, string Value) Indexed(KeyValuePair<string, string> field) =>
        (SqlText.Cut(SqlText.Clean(field.Key), IndexedCharacters), SqlText.Cut(SqlText.Clean(field.Value), IndexedCharacters));

    /// <summary>Whether the index holds all of the name and of the value.</summary>
    public static bool IsIndexedWhole(KeyValuePair<string, string> field) =>
        SqlText.Clean(field.Key).Length <= IndexedCharacters && SqlText.Clean(field.Value).Length <= IndexedCharacters;
}
