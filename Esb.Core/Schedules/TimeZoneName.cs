using System.Text.RegularExpressions;
using Esb.Core.Configuration.Settings;

namespace Esb.Core.Schedules;

/// <summary>A time zone by its name in the IANA database, which the system provides.</summary>
/// <param name="Zone">The zone.</param>
public sealed partial record TimeZoneName(TimeZoneInfo Zone) : ITextSetting<TimeZoneName>
{
    /// <inheritdoc/>
    public static string Code => "ESB-CFG-TIMEZONE";

    /// <inheritdoc/>
    public static string Expected => "expected a time zone that the system knows, such as \"Europe/Berlin\" or \"UTC\"";

    (string Section, string Name)? ITextSetting<TimeZoneName>.Reference => null;

    /// <inheritdoc/>
    public static TimeZoneName? Parse(string text) =>
        WellFormed().IsMatch(text) && TimeZoneInfo.TryFindSystemTimeZoneById(text, out var zone) ? new TimeZoneName(zone) : null;

    // Names of files below the folder of zones, and of nothing else.
    [GeneratedRegex(@"\A[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}\z")]
    private static partial Regex WellFormed();
}
