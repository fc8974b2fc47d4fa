using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Schedules;

namespace Esb.Endpoints.Timers;

/// <summary>The action on ticks that fell due while the timer could not fire.</summary>
public enum MissedTicks
{
    /// <summary>They are not fired.</summary>
    Skip,

    /// <summary>The last of them is fired, in place of all.</summary>
    Once,

    /// <summary>All of them are fired, in order.</summary>
    All,
}

/// <summary>An endpoint that creates a message at each time of a rule.</summary>
[ExactlyOne("cron", "interval")]
public sealed record TimerInboundConfig : InboundEndpointConfig
{
    /// <summary>The times, as a cron expression; null if there is an interval.</summary>
    [Setting("The times, as a cron expression: minute, hour, day, month, day of the week; with six fields, seconds come first.")]
    public CronRule? Cron { get; init; }

    /// <summary>The time between two ticks; null if there is a cron expression.</summary>
    [Setting(
        "The time between two ticks. They fall on its multiples since 1970-01-01T00:00Z, so every host computes the same times.",
        Range = "1s..24h"
    )]
    public TimeSpan? Interval { get; init; }

    /// <summary>The time zone of the cron expression; null for UTC.</summary>
    [Setting("The time zone of cron, such as Europe/Berlin; UTC by default.")]
    public TimeZoneName? TimeZone { get; init; }

    /// <summary>The action on missed ticks.</summary>
    [Setting("What happens to ticks of the last 24 hours that were missed: none is fired, one for all of them, or each.")]
    public MissedTicks Missed { get; init; }

    /// <summary>The body of the messages; null for an empty body.</summary>
    [Setting("The body of each message: text becomes text/plain, other JSON application/json; empty by default.")]
    public ValueConfig? Body { get; init; }

    /// <inheritdoc/>
    [Setting("Whether only one host of the farm at a time fires; another takes over when that one is gone.")]
    public override bool SingleInstance { get; init; } = true;

    /// <summary>One: a tick waits for the one before.</summary>
    public override int? CallsAtOnce => 1;
}
