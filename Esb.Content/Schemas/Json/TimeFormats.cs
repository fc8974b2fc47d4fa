using System.Globalization;

namespace Esb.Content.Schemas.Json;

/// <summary>Formats of dates and times (RFC 3339).</summary>
internal static class TimeFormats
{
    public static bool IsDateTime(ReadOnlySpan<char> text) =>
        text.Length > 11 && text[10] is 'T' or 't' && IsDate(text[..10]) && IsTime(text[11..]);

    public static bool IsDate(ReadOnlySpan<char> text) =>
        text.Length == 10 && DateOnly.TryParseExact(text, "yyyy-MM-dd", CultureInfo.InvariantCulture, DateTimeStyles.None, out _);

    public static bool IsTime(ReadOnlySpan<char> text)
    {
        if (text.Length < 9 || text[2] != ':' || text[5] != ':')
            return false;
        if (!TryRead(text[..2], 23, out var hour) || !TryRead(text[3..5], 59, out var minute) || !TryRead(text[6..8], 60, out var second))
            return false;
        var zone = text[8..];
        if (zone[0] == '.')
        {
            var digits = zone[1..].IndexOfAnyExceptInRange('0', '9');
            if (digits <= 0)
                return false;
            zone = zone[(digits + 1)..];
        }

        var offset = 0;
        if (zone is not ("Z" or "z"))
        {
            if (
                zone.Length != 6
                || zone[0] is not ('+' or '-')
                || zone[3] != ':'
                || !TryRead(zone[1..3], 23, out var hours)
                || !TryRead(zone[4..6], 59, out var minutes)
            )
                return false;
            offset = ((hours * 60) + minutes) * (zone[0] == '-' ? -1 : 1);
        }

        return second < 60 || ((hour * 60) + minute - offset + 1440) % 1440 == 1439; // a leap second ends a day of UTC
    }

    /// <summary>Such as <c>P1Y2M3DT4H5M6S</c> or <c>P4W</c> (RFC 3339, appendix A).</summary>
    public static bool IsDuration(ReadOnlySpan<char> text)
    {
        if (text.Length < 3 || text[0] != 'P')
            return false;
        text = text[1..];
        if (text[^1] == 'W')
            return !text[..^1].ContainsAnyExceptInRange('0', '9');
        var time = text.IndexOf('T');
        if (time < 0)
            return HasParts(text, "YMD");
        return (time == 0 || HasParts(text[..time], "YMD")) && HasParts(text[(time + 1)..], "HMS");
    }

    // Numbers with units in their order, and without gaps between them.
    private static bool HasParts(ReadOnlySpan<char> text, ReadOnlySpan<char> units)
    {
        if (text.IsEmpty)
            return false;
        var last = -1;
        while (!text.IsEmpty)
        {
            var digits = text.IndexOfAnyExceptInRange('0', '9');
            if (digits <= 0)
                return false;
            var unit = units.IndexOf(text[digits]);
            if (unit < 0 || (last >= 0 && unit != last + 1))
                return false;
            last = unit;
            text = text[(digits + 1)..];
        }

        return true;
    }

    private static bool TryRead(ReadOnlySpan<char> digits, int most, out int value) =>
        int.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out value) && value <= most;
}
