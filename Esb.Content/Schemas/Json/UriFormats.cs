using System.Globalization;

namespace Esb.Content.Schemas.Json;

/// <summary>Formats of URIs (RFC 3986), JSON pointers and UUIDs.</summary>
internal static class UriFormats
{
    private const string Unreserved = "-._~";
    private const string Delimiters = "!$&'()*+,;=";

    /// <param name="text">The text.</param>
    /// <param name="allowsAll">Whether characters beyond ASCII are allowed (RFC 3987).</param>
    /// <param name="allowsRelative">Whether the scheme may be missing.</param>
    public static bool IsUri(ReadOnlySpan<char> text, bool allowsAll, bool allowsRelative)
    {
        var hash = text.IndexOf('#');
        if (hash >= 0 && !Holds(text[(hash + 1)..], ":@/?", allowsAll))
            return false;
        if (hash >= 0)
            text = text[..hash];
        var query = text.IndexOf('?');
        if (query >= 0 && !Holds(text[(query + 1)..], ":@/?", allowsAll))
            return false;
        if (query >= 0)
            text = text[..query];
        var slash = text.IndexOf('/');
        var colon = text.IndexOf(':');
        var hasScheme = colon >= 0 && (slash < 0 || colon < slash);
        if (hasScheme ? !IsScheme(text[..colon]) : !allowsRelative)
            return false;
        if (hasScheme)
            text = text[(colon + 1)..];
        if (!text.StartsWith("//"))
            return Holds(text, ":@/", allowsAll);
        text = text[2..];
        var path = text.IndexOf('/');
        return IsAuthority(path < 0 ? text : text[..path], allowsAll) && (path < 0 || Holds(text[path..], ":@/", allowsAll));
    }

    public static bool IsTemplate(ReadOnlySpan<char> text)
    {
        while (!text.IsEmpty)
        {
            var brace = text.IndexOfAny('{', '}');
            var literal = brace < 0 ? text : text[..brace];
            if (literal.ContainsAny("\"<>\\^`| \u007F"))
                return false;
            if (brace < 0)
                return true;
            var end = text[brace] == '{' ? text[brace..].IndexOf('}') : -1;
            if (end < 0 || !IsExpression(text[(brace + 1)..(brace + end)]))
                return false;
            text = text[(brace + end + 1)..];
        }

        return true;
    }

    public static bool IsUuid(ReadOnlySpan<char> text) => text.Length == 36 && Guid.TryParseExact(text, "D", out _);

    public static bool IsPointer(ReadOnlySpan<char> text)
    {
        if (text.IsEmpty)
            return true;
        if (text[0] != '/')
            return false;
        for (var i = 0; i < text.Length; i++)
        {
            if (text[i] == '~' && (i + 1 == text.Length || text[i + 1] is not ('0' or '1')))
                return false;
        }

        return true;
    }

    public static bool IsRelativePointer(ReadOnlySpan<char> text)
    {
        var end = text.IndexOfAnyExceptInRange('0', '9');
        var digits = end < 0 ? text : text[..end];
        if (digits.IsEmpty || (digits.Length > 1 && digits[0] == '0'))
            return false;
        return end < 0 || text[end..] is "#" || IsPointer(text[end..]);
    }

    private static bool IsExpression(ReadOnlySpan<char> text)
    {
        if (!text.IsEmpty && "+#./;?&=,!@|".Contains(text[0]))
            text = text[1..];
        if (text.IsEmpty)
            return false;
        foreach (var range in text.Split(','))
        {
            var name = text[range];
            if (name.EndsWith("*"))
                name = name[..^1];
            var colon = name.IndexOf(':');
            if (
                colon >= 0
                && (
                    !int.TryParse(name[(colon + 1)..], NumberStyles.None, CultureInfo.InvariantCulture, out var length)
                    || name[colon + 1] == '0'
                    || length > 9999
                )
            )
                return false;
            if (colon >= 0)
                name = name[..colon];
            if (
                name.IsEmpty
                || name[0] == '.'
                || name[^1] == '.'
                || name.Contains("..", StringComparison.Ordinal)
                || !Holds(name, "", allowsAll: false)
                || name.ContainsAny("-~!$&'()*+,;=")
            )
                return false;
        }

        return true;
    }

    private static bool IsScheme(ReadOnlySpan<char> text)
    {
        if (text.IsEmpty || !char.IsAsciiLetter(text[0]))
            return false;
        foreach (var character in text)
        {
            if (!char.IsAsciiLetterOrDigit(character) && character is not ('+' or '-' or '.'))
                return false;
        }

        return true;
    }

    private static bool IsAuthority(ReadOnlySpan<char> text, bool allowsAll)
    {
        var at = text.LastIndexOf('@');
        if (at >= 0 && !Holds(text[..at], ":", allowsAll))
            return false;
        if (at >= 0)
            text = text[(at + 1)..];
        var port = text.LastIndexOf(':');
        if (port >= 0 && !text[port..].Contains(']'))
        {
            if (text[(port + 1)..].ContainsAnyExceptInRange('0', '9'))
                return false;
            text = text[..port];
        }

        if (!text.StartsWith("["))
            return Holds(text, "", allowsAll);
        return text.EndsWith("]") && (NetFormats.IsIpv6(text[1..^1]) || IsFutureAddress(text[1..^1]));
    }

    private static bool IsFutureAddress(ReadOnlySpan<char> text)
    {
        var dot = text.IndexOf('.');
        return text.Length > 0 && text[0] is 'v' or 'V' && dot > 1 && Holds(text[(dot + 1)..], ":", allowsAll: false);
    }

    private static bool Holds(ReadOnlySpan<char> text, ReadOnlySpan<char> further, bool allowsAll)
    {
        for (var i = 0; i < text.Length; i++)
        {
            var character = text[i];
            if (character == '%')
            {
                if (i + 2 >= text.Length || !char.IsAsciiHexDigit(text[i + 1]) || !char.IsAsciiHexDigit(text[i + 2]))
                    return false;
                i += 2;
            }
            else if (
                character > 0x7F
                    ? !allowsAll || char.GetUnicodeCategory(character) is UnicodeCategory.PrivateUse or UnicodeCategory.SpaceSeparator
                    : !char.IsAsciiLetterOrDigit(character)
                        && !Unreserved.Contains(character)
                        && !Delimiters.Contains(character)
                        && !further.Contains(character)
            )
            {
                return false;
            }
        }

        return true;
    }
}
