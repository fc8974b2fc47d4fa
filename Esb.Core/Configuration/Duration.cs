using System.Globalization;

namespace Esb.Core.Configuration;

/// <summary>Durations in their configured form: <c>250ms</c>, <c>5s</c>, <c>10m</c>, <c>2h</c>, <c>30d</c>; a whole number and a
/// unit.</summary>
public static class Duration
{
    private static readonly (string Unit, long Milliseconds)[] Units =
    [
        ("ms", 1),
        ("s", 1_000),
        ("m", 60_000),
        ("h", 3_600_000),
        ("d", 86_400_000),
    ];

    /// <summary>Parses a duration; false for anything else, including a negative duration.</summary>
    public static bool TryParse(string text, out TimeSpan duration)
    {
        duration = default;
        foreach (var (unit, milliseconds) in Units)
        {
            if (!text.EndsWith(unit, StringComparison.Ordinal))
                continue;
            if (!long.TryParse(text.AsSpan(0, text.Length - unit.Length), NumberStyles.None, CultureInfo.InvariantCulture, out var number))
                continue;
            if (number > TimeSpan.MaxValue.TotalMilliseconds / milliseconds)
                return false;
            duration = TimeSpan.FromMilliseconds(number * milliseconds);
            return true;
        }

        return false;
    }

    /// <summary>Formats a duration in its largest whole unit.</summary>
    public static string Format(TimeSpan duration)
    {
        var total = (long)duration.TotalMilliseconds;
        var (unit, milliseconds) = total == 0 ? Units[1] : Units.Last(candidate => total % candidate.Milliseconds == 0);
        return string.Create(CultureInfo.InvariantCulture, $"{total / milliseconds}{unit}");
    }
}
