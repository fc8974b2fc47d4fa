using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;

namespace Esb.Endpoints.Files;

/// <summary>Distinguishes plain file names from names that could lead elsewhere, or that a person or another system would
/// misread.</summary>
/// <remarks>An unsafe name is refused, never made safe: two messages mapped to one name would overwrite each other. The rules are equal on
/// every system.</remarks>
internal static partial class SafeFileName
{
    /// <summary>The maximum length in bytes of UTF-8; leaves room for the addition of <c>ifExists: unique</c> below the 255 of file
    /// systems.</summary>
    public const int MaxBytes = 200;

    /// <summary>Describes the fault of a name, as the end of a sentence that begins with the name; null for a plain, safe file
    /// name.</summary>
    public static string? WhatIsWrong(string name)
    {
        if (string.IsNullOrWhiteSpace(name))
            return "is empty";
        if (Encoding.UTF8.GetByteCount(name) > MaxBytes)
            return $"is longer than {MaxBytes} bytes";
        if (name.Any(IsSeparator) || EncodedSeparator().IsMatch(name))
            return "must be a plain file name, without a folder or a drive";
        if (name.Any(IsInvisible))
            return "must be a plain file name, without control characters";
        if (name.EnumerateRunes().Contains(Rune.ReplacementChar))
            return "must be a plain file name, in well-formed Unicode";
        if (name.IndexOfAny(['<', '>', '"', '|', '?', '*']) >= 0)
            return "must be a plain file name, without < > \" | ? *";
        if (name[^1] is '.' or ' ' || name[0] == ' ')
            return "must be a plain file name, without a space at either end or a dot at its end";
        if (name.Any(IsCombining))
            return "must be a plain file name, with accents as part of their letters (Unicode NFC)";
        return DeviceName().IsMatch(name) ? "must be a plain file name, not that of a device" : null;
    }

    /// <summary>Formats a name for display on one line: unsafe characters are written as their code points.</summary>
    public static string Escape(string name)
    {
        var shown = new StringBuilder(name.Length);
        foreach (var c in name)
        {
            if (IsInvisible(c) || char.IsSurrogate(c))
                shown.Append(CultureInfo.InvariantCulture, $"\\u{(int)c:X4}");
            else
                shown.Append(c);
        }

        return shown.ToString();
    }

    // Includes the characters that Unicode compatibility forms turn into a slash, backslash or colon, or that look like one.
    private static bool IsSeparator(char c) =>
        c is '/' or '\\' or ':' or '\u2044' or '\u2215' or '\u29F8' or '\u29F5' or '\uFF0F' or '\uFF3C' or '\uFE68' or '\uFF1A' or '\uFE55';

    private static bool IsInvisible(char c) =>
        CharUnicodeInfo.GetUnicodeCategory(c)
            is UnicodeCategory.Control
                or UnicodeCategory.Format
                or UnicodeCategory.LineSeparator
                or UnicodeCategory.ParagraphSeparator;

    // Only the composed spelling of a letter is accepted, so that names equal in Unicode are equal here.
    private static bool IsCombining(char c) => c is >= '\u0300' and <= '\u036F';

    [GeneratedRegex("%(00|2e|2f|3a|5c|25|c0|c1|e0%80)", RegexOptions.IgnoreCase)]
    private static partial Regex EncodedSeparator();

    [GeneratedRegex(@"^(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9\u00B9\u00B2\u00B3])\s*(\.|$)", RegexOptions.IgnoreCase)]
    private static partial Regex DeviceName();
}
