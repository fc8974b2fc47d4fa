using System.Globalization;
using System.Text;

namespace Esb.Core.Messages;

/// <summary>Makes external text safe to display: one line, of bounded length, without characters that control a terminal or reverse the
/// writing direction.</summary>
public static class SafeText
{
    private const char Replacement = '\uFFFD';

    /// <summary>Returns at most the given number of characters; a cut text ends with an ellipsis.</summary>
    public static string Of(string? text, int maxLength)
    {
        if (string.IsNullOrEmpty(text))
            return "";
        var safe = new StringBuilder(Math.Min(text.Length, maxLength));
        var whole = 0; // the length that leaves room for the ellipsis
        foreach (var rune in text.EnumerateRunes())
        {
            if (safe.Length + rune.Utf16SequenceLength > maxLength)
            {
                safe.Length = whole;
                return safe.Append('…').ToString();
            }

            Append(safe, rune);
            if (safe.Length < maxLength)
                whole = safe.Length;
        }

        return safe.ToString();
    }

    private static void Append(StringBuilder safe, Rune rune)
    {
        var category = Rune.GetUnicodeCategory(rune);
        if (
            category is UnicodeCategory.SpaceSeparator or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator
            || rune.Value is '\n' or '\r' or '\t'
        )
            safe.Append(' ');
        else if (
            category is UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.PrivateUse or UnicodeCategory.OtherNotAssigned
            || rune.Value is 0xFFFE or 0xFFFF
        )
            safe.Append(Replacement);
        else
            safe.Append(rune);
    }
}
