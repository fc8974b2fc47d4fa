using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Esb.Storage;

/// <summary>Text as it can be stored: half of a pair of surrogates, which UTF-8 does not know, becomes U+FFFD, in what is kept and in what
/// is looked for.</summary>
internal static class StoredText
{
    [return: NotNullIfNotNull(nameof(text))]
    public static string? WellFormed(string? text) =>
        text is null || !text.AsSpan().ContainsAnyInRange('\uD800', '\uDFFF')
            ? text
            : Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text));

    public static IReadOnlyDictionary<string, string> WellFormed(IReadOnlyDictionary<string, string> fields)
    {
        var wellFormed = new Dictionary<string, string>(fields.Count);
        foreach (var (name, value) in fields)
            wellFormed[WellFormed(name)] = WellFormed(value);
        return wellFormed;
    }
}
