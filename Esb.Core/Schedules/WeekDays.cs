using Esb.Core.Configuration.Settings;

namespace Esb.Core.Schedules;

/// <summary>Days of the week, written as <c>mon-fri</c> or <c>mon,wed,sat-sun</c>; a range may wrap around the end of the week.</summary>
public sealed record WeekDays : ITextSetting<WeekDays>
{
    /// <summary>Every day.</summary>
    public static readonly WeekDays All = new(0b111_1111);

    private static readonly string[] Names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]; // as DayOfWeek counts

    private readonly int _days;

    private WeekDays(int days) => _days = days;

    /// <inheritdoc/>
    public static string Code => "ESB-CFG-DAYS";

    /// <inheritdoc/>
    public static string Expected => "expected days such as \"mon-fri\" or \"mon,wed,sat-sun\"";

    (string Section, string Name)? ITextSetting<WeekDays>.Reference => null;

    /// <summary>True if a day is included.</summary>
    public bool Contains(DayOfWeek day) => (_days & (1 << (int)day)) != 0;

    /// <inheritdoc/>
    public static WeekDays? Parse(string text)
    {
        var days = 0;
        foreach (var part in text.Split(','))
        {
            var ends = part.Trim().Split('-');
            var (first, last) = (Array.IndexOf(Names, ends[0]), Array.IndexOf(Names, ends[^1]));
            if (ends.Length > 2 || first < 0 || last < 0)
                return null;
            for (var day = first; ; day = (day + 1) % 7)
            {
                days |= 1 << day;
                if (day == last)
                    break;
            }
        }

        return new WeekDays(days);
    }
}
