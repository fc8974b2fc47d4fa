using System.Globalization;
using System.Text;

namespace Esb.Content.Schemas.Json;

/// <summary>Names of Unicode properties in <c>\p{…}</c>.</summary>
internal static class UnicodeNames
{
    private static readonly Dictionary<string, string> Categories = new()
    {
        ["Letter"] = "L",
        ["Uppercase_Letter"] = "Lu",
        ["Lowercase_Letter"] = "Ll",
        ["Titlecase_Letter"] = "Lt",
        ["Modifier_Letter"] = "Lm",
        ["Other_Letter"] = "Lo",
        ["Cased_Letter"] = "LC",
        ["Mark"] = "M",
        ["Combining_Mark"] = "M",
        ["Nonspacing_Mark"] = "Mn",
        ["Spacing_Mark"] = "Mc",
        ["Enclosing_Mark"] = "Me",
        ["Number"] = "N",
        ["Decimal_Number"] = "Nd",
        ["digit"] = "Nd",
        ["Letter_Number"] = "Nl",
        ["Other_Number"] = "No",
        ["Punctuation"] = "P",
        ["punct"] = "P",
        ["Connector_Punctuation"] = "Pc",
        ["Dash_Punctuation"] = "Pd",
        ["Open_Punctuation"] = "Ps",
        ["Close_Punctuation"] = "Pe",
        ["Initial_Punctuation"] = "Pi",
        ["Final_Punctuation"] = "Pf",
        ["Other_Punctuation"] = "Po",
        ["Symbol"] = "S",
        ["Math_Symbol"] = "Sm",
        ["Currency_Symbol"] = "Sc",
        ["Modifier_Symbol"] = "Sk",
        ["Other_Symbol"] = "So",
        ["Separator"] = "Z",
        ["Space_Separator"] = "Zs",
        ["Line_Separator"] = "Zl",
        ["Paragraph_Separator"] = "Zp",
        ["Other"] = "C",
        ["Control"] = "Cc",
        ["cntrl"] = "Cc",
        ["Format"] = "Cf",
        ["Surrogate"] = "Cs",
        ["Private_Use"] = "Co",
        ["Unassigned"] = "Cn",
    };

    private static readonly string[] Short =
    [
        "Lu",
        "Ll",
        "Lt",
        "Lm",
        "Lo",
        "Mn",
        "Mc",
        "Me",
        "Nd",
        "Nl",
        "No",
        "Zs",
        "Zl",
        "Zp",
        "Cc",
        "Cf",
        "Cs",
        "Co",
        "Pc",
        "Pd",
        "Ps",
        "Pe",
        "Pi",
        "Pf",
        "Po",
        "Sm",
        "Sc",
        "Sk",
        "So",
        "Cn",
    ];

    /// <summary>Says of a code point whether it has the property; null for a property that is not supported.</summary>
    /// <param name="name">What stands in the braces.</param>
    /// <param name="value">The same without <c>General_Category=</c>.</param>
    public static Func<int, bool>? Find(string name, string value)
    {
        if (
            name != value
            && !name.StartsWith("General_Category=", StringComparison.Ordinal)
            && !name.StartsWith("gc=", StringComparison.Ordinal)
        )
            return null;
        if (name == "Any")
            return _ => true;
        if (name == "ASCII")
            return character => character < 0x80;
        var category = Categories.GetValueOrDefault(value, value);
        if (category == "LC")
            return character => CategoryOf(character) is "Lu" or "Ll" or "Lt";
        if (category.Length == 1)
            return Short.Any(known => known[0] == category[0]) ? character => CategoryOf(character)[0] == category[0] : null;
        return Short.Contains(category) ? character => CategoryOf(character) == category : null;
    }

    private static string CategoryOf(int character) =>
        Short[(int)(Rune.IsValid(character) ? Rune.GetUnicodeCategory(new Rune(character)) : UnicodeCategory.Surrogate)];
}
