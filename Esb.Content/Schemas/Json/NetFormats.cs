using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Esb.Content.Schemas.Json;

/// <summary>Formats of host names, addresses and e-mail addresses.</summary>
/// <remarks>Labels of international names are checked for their characters and lengths, not by the tables of IDNA 2008.</remarks>
internal static class NetFormats
{
    private const int LongestName = 253;
    private const int LongestLabel = 63;
    private const string InAtoms = "!#$%&'*+-/=?^_`{|}~";
    private const string Dots = ".\u3002\uFF0E\uFF61"; // also those of IDNA

    public static bool IsIpv4(ReadOnlySpan<char> text)
    {
        Span<Range> parts = stackalloc Range[5];
        if (text.Split(parts, '.') != 4)
            return false;
        foreach (var part in parts[..4])
        {
            var digits = text[part];
            if (digits.Length is 0 or > 3 || (digits.Length > 1 && digits[0] == '0') || digits.ContainsAnyExceptInRange('0', '9'))
                return false;
            if (int.Parse(digits, CultureInfo.InvariantCulture) > 255)
                return false;
        }

        return true;
    }

    public static bool IsIpv6(ReadOnlySpan<char> text)
    {
        if (!text.Contains(':') || text.ContainsAny("[]%/") || text.ContainsAnyExceptInRange('.', 'f'))
            return false;
        var dot = text.IndexOf('.');
        if (dot >= 0 && !IsIpv4(text[(text.LastIndexOf(':') + 1)..]))
            return false;
        return IPAddress.TryParse(text, out var address) && address.AddressFamily == AddressFamily.InterNetworkV6;
    }

    public static bool IsHostName(ReadOnlySpan<char> text, bool allowsAll)
    {
        if (text.Length is 0 or > LongestName)
            return false;
        ReadOnlySpan<char> dots = allowsAll ? Dots : ".";
        foreach (var range in text.SplitAny(dots))
        {
            var label = text[range];
            if (label.Length is 0 or > LongestLabel || label[0] == '-' || label[^1] == '-')
                return false;
            if (label.Length >= 4 && label[2..4] is "--" && !label.StartsWith("xn--", StringComparison.OrdinalIgnoreCase))
                return false;
            foreach (var character in label.EnumerateRunes())
            {
                if (character.IsAscii ? !Rune.IsLetterOrDigit(character) && character.Value != '-' : !allowsAll || !IsInLabels(character))
                    return false;
            }
        }

        return true;
    }

    public static bool IsEmail(ReadOnlySpan<char> text, bool allowsAll)
    {
        var at = text.LastIndexOf('@');
        if (at <= 0 || at == text.Length - 1)
            return false;
        var domain = text[(at + 1)..];
        var isDomain = domain is ['[', .., ']'] ? IsAddressLiteral(domain[1..^1]) : IsHostName(domain, allowsAll);
        return isDomain && IsLocalPart(text[..at], allowsAll);
    }

    private static bool IsAddressLiteral(ReadOnlySpan<char> text) => text.StartsWith("IPv6:") ? IsIpv6(text[5..]) : IsIpv4(text);

    private static bool IsLocalPart(ReadOnlySpan<char> text, bool allowsAll)
    {
        if (text is ['"', .., '"'] && text.Length > 2)
            return !text[1..^1].Contains('"');
        if (text[0] == '.' || text[^1] == '.' || text.Contains("..", StringComparison.Ordinal))
            return false;
        foreach (var character in text)
        {
            if (
                !char.IsAsciiLetterOrDigit(character)
                && character != '.'
                && !InAtoms.Contains(character)
                && !(allowsAll && character > 0x7F)
            )
                return false;
        }

        return true;
    }

    private static bool IsInLabels(Rune character) =>
        Rune.IsLetterOrDigit(character)
        || Rune.GetUnicodeCategory(character)
            is UnicodeCategory.NonSpacingMark
                or UnicodeCategory.SpacingCombiningMark
                or UnicodeCategory.LetterNumber
                or UnicodeCategory.OtherPunctuation
                or UnicodeCategory.Format;
}
