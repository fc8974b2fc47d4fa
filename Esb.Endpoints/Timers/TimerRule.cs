using System.Globalization;

namespace Esb.Endpoints.Timers;

/// <summary>The times at which a timer is due. Immutable and thread-safe.</summary>
internal sealed class TimerRule(TimerInboundConfig config)
{
    private readonly TimeZoneInfo _zone = config.TimeZone?.Zone ?? TimeZoneInfo.Utc;

    /// <summary>The rule as text, to recognise that a stored tick belongs to another rule.</summary>
    public string Text { get; } =
        config.Cron is { } cron
            ? $"cron {cron.Text} {config.TimeZone?.Zone.Id ?? "UTC"}"
            : string.Create(CultureInfo.InvariantCulture, $"interval {config.Interval!.Value.Ticks}");

    /// <summary>The first due time after another time; null if it never fires again.</summary>
    public DateTimeOffset? After(DateTimeOffset time)
    {
        if (config.Cron is { } cron)
            return cron.Expression.GetNextOccurrence(time, _zone)?.ToUniversalTime();
        var interval = config.Interval!.Value.Ticks;
        var since = time.UtcTicks - DateTimeOffset.UnixEpoch.Ticks;
        return DateTimeOffset.UnixEpoch.AddTicks(((since / interval) + 1) * interval);
    }

    /// <summary>The due times after one time, up to and including another.</summary>
    public IEnumerable<DateTimeOffset> Between(DateTimeOffset after, DateTimeOffset until)
    {
        for (var due = After(after); due is { } next && next <= until; due = After(next))
            yield return next;
    }
}
