using Esb.Core.Schedules;

namespace Esb.Delivery.Intake.Holds;

/// <summary>The hours during which an inbound endpoint accepts messages, from its <c>schedule</c>. Thread-safe.</summary>
/// <remarks>A time skipped by a clock change counts as the next valid time. A repeated time opens at its first occurrence and closes at its
/// second.</remarks>
internal sealed class OpeningHours(ScheduleConfig schedule)
{
    private static readonly TimeSpan Day = TimeSpan.FromDays(1);

    private readonly TimeZoneInfo _zone = schedule.TimeZone?.Zone ?? TimeZoneInfo.Utc;
    private readonly WeekDays _days = schedule.Days ?? WeekDays.All;
    private readonly TimeSpan _from = schedule.From.SinceMidnight;
    private readonly TimeSpan _to =
        schedule.To.SinceMidnight > schedule.From.SinceMidnight ? schedule.To.SinceMidnight : schedule.To.SinceMidnight + Day;
    private volatile Span? _known;

    /// <summary>The next opening time; null while it is open.</summary>
    public DateTimeOffset? OpensAt(DateTimeOffset now)
    {
        var span = _known;
        if (span is null || now < span.Begin || now >= span.End)
            _known = span = Find(now);
        return span.IsOpen ? null : span.End;
    }

    // Computed once for each opening and closing.
    private Span Find(DateTimeOffset now)
    {
        var today = TimeZoneInfo.ConvertTime(now, _zone).Date;
        var closed = now;
        for (var day = today.AddDays(-2); ; day = day.AddDays(1))
        {
            if (!_days.Contains(day.DayOfWeek))
                continue;
            var (opens, closes) = (InstantOf(day + _from, isLast: false), InstantOf(day + _to, isLast: true));
            if (closes <= now)
                continue;
            return opens <= now ? new Span(opens, closes, IsOpen: true) : new Span(closed, opens, IsOpen: false);
        }
    }

    private DateTimeOffset InstantOf(DateTime local, bool isLast)
    {
        while (_zone.IsInvalidTime(local))
            local = local.AddMinutes(1);
        var offset = _zone.IsAmbiguousTime(local)
            ? _zone.GetAmbiguousTimeOffsets(local).Aggregate((left, right) => (left < right) == isLast ? left : right)
            : _zone.GetUtcOffset(local);
        return new DateTimeOffset(local, offset);
    }

    private sealed record Span(DateTimeOffset Begin, DateTimeOffset End, bool IsOpen);
}
