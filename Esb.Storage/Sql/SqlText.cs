using System.Diagnostics.CodeAnalysis;
using Esb.Storage.Encryption;

namespace Esb.Storage.Sql;

/// <summary>Text as databases accept it: PostgreSQL knows no U+0000, and functions of SQLite end at one.</summary>
internal static class SqlText
{
    /// <summary>The length of the body that the column <c>body</c> holds, encrypted or not.</summary>
    public const string BodyBytes =
        $"octet_length(body) - case when encode(substr(body, 1, 8), 'hex') = '{BodyCipher.MarkHex}' then 52 else 0 end";

    [return: NotNullIfNotNull(nameof(text))]
    public static string? Clean(string? text) => StoredText.WellFormed(text)?.Replace('\0', '\uFFFD');

    /// <summary>The beginning of a text, at most this many characters.</summary>
    public static string Cut(string text, int length) =>
        text.Length <= length ? text : text[..(char.IsHighSurrogate(text[length - 1]) ? length - 1 : length)];
}
