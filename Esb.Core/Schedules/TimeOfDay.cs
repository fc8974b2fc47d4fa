using System.Globalization;
using System.Text.RegularExpressions;
using Esb.Core.Configuration.Settings;

namespace Esb.Core.Schedules;

/// <summary>A time of day to the minute, written as <c>08:00</c>; <c>24:00</c> is the end of the day.</summary>
/// <param name="SinceMidnight">The time since midnight, up to 24 h.</param>
public sealed partial record TimeOfDay(TimeSpan SinceMidnight) : ITextSetting<TimeOfDay>
{
    /// <inheritdoc/>
    public static string Code => "ESB-CFG-TIME";

    /// <inheritdoc/>
    public static string Expected => "expected a time of day such as \"08:00\", 00:00..24:00";

    (string Section, string Name)? ITextSetting<TimeOfDay>.Reference => null;

    /// <inheritdoc/>
    public static TimeOfDay? Parse(string text)
    {
        if (!WellFormed().IsMatch(text))
            return null;
        var (hours, minutes) = (int.Parse(text[..2], CultureInfo.InvariantCulture), int.Parse(text[3..], CultureInfo.InvariantCulture));
        var time = new TimeSpan(hours, minutes, seconds: 0);
        return minutes < 60 && time <= TimeSpan.FromDays(1) ? new TimeOfDay(time) : null;
    }

    [GeneratedRegex(@"\A[0-9]{2}:[0-9]{2}\z")]
    private static partial Regex WellFormed();
}
