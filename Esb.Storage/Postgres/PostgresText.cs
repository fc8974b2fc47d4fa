using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Esb.Storage.Postgres;

/// <summary>Text as PostgreSQL accepts it: it knows no U+0000, and its UTF-8 no half of a pair of surrogates.</summary>
internal static class PostgresText
{
    [return: NotNullIfNotNull(nameof(text))]
    public static string? Clean(string? text) =>
        text is null || !text.Any(c => c == '\0' || char.IsSurrogate(c))
            ? text
            : Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text)).Replace('\0', '\uFFFD');

    /// <summary>The beginning of a text, at most this many characters.</summary>
    public static string Cut(string text, int length) =>
        text.Length <= length ? text : text[..(char.IsHighSurrogate(text[length - 1]) ? length - 1 : length)];
}
