using Esb.Core.Configuration.Settings;

namespace Esb.Core.Schedules;

/// <summary>A time window of an inbound endpoint: outside of it nothing is taken in.</summary>
public sealed record ScheduleConfig : SettingsRecord
{
    /// <summary>When it opens.</summary>
    [Setting("The time of day at which the endpoint begins to take messages in.")]
    public required TimeOfDay From { get; init; }

    /// <summary>When it closes; on the next day where that is before <see cref="From"/>.</summary>
    [Setting("The time of day at which it stops, up to 24:00; on the next day where that is earlier than from.")]
    public required TimeOfDay To { get; init; }

    /// <summary>On which days it opens; null for all.</summary>
    [Setting("The days on which it opens, such as mon-fri or mon,wed,sat-sun; all by default.")]
    public WeekDays? Days { get; init; }

    /// <summary>Where these times are; null for UTC.</summary>
    [Setting("The time zone of these times, such as Europe/Berlin; UTC by default.")]
    public TimeZoneName? TimeZone { get; init; }
}
