using Esb.Core.Configuration.Settings;

namespace Esb.Core.Schedules;

/// <summary>A time window of an inbound endpoint; nothing is received outside it.</summary>
public sealed record ScheduleConfig : SettingsRecord
{
    /// <summary>Opening time.</summary>
    [Setting("The time of day at which the endpoint begins to take messages in.")]
    public required TimeOfDay From { get; init; }

    /// <summary>Closing time; on the next day if it is before <see cref="From"/>.</summary>
    [Setting("The time of day at which it stops, up to 24:00; on the next day where that is earlier than from.")]
    public required TimeOfDay To { get; init; }

    /// <summary>Days on which it opens; null for all.</summary>
    [Setting("The days on which it opens, such as mon-fri or mon,wed,sat-sun; all by default.")]
    public WeekDays? Days { get; init; }

    /// <summary>Time zone of these times; null for UTC.</summary>
    [Setting("The time zone of these times, such as Europe/Berlin; UTC by default.")]
    public TimeZoneName? TimeZone { get; init; }
}
