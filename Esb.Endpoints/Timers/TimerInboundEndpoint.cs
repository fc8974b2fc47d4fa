using Esb.Core.Errors;
using Esb.Delivery.Intake.Overload;
using Esb.Delivery.Polling;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Timers;

/// <summary>Inbound endpoint that creates a message at each time of a rule.</summary>
/// <remarks>
/// One tick at a time: the next is fired only after the message of the one before has arrived and is recorded. After a crash between the
/// two the tick is fired again, as the same message. Of the ticks due at a look, all but the last were missed; the last one too if it is
/// more than <see cref="Grace"/> late.
/// </remarks>
internal sealed partial class TimerInboundEndpoint : PollingEndpoint<DateTimeOffset, TimerTick>
{
    /// <summary>The delay up to which a tick counts as fired in time.</summary>
    public static readonly TimeSpan Grace = TimeSpan.FromSeconds(60);

    private static readonly TimeSpan LookBack = TimeSpan.FromHours(24);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMinutes(1); // the clock of the host may be set meanwhile
    private static readonly TimeSpan PauseWithoutStore = TimeSpan.FromSeconds(5);

    private static readonly PolledLook<DateTimeOffset> Nothing = new([], HasMore: false);

    private readonly TimerInboundConfig _config;
    private readonly TimerRule _rule;
    private readonly TimerMark _mark;
    private readonly TimeProvider _time;
    private readonly ILogger<TimerInboundEndpoint> _logger;
    private readonly SemaphoreSlim _recorded = new(0, 1);
    private readonly Lock _gate = new();
    private DateTimeOffset? _last;
    private bool _isFiring;

    public TimerInboundEndpoint(
        TimerInboundConfig config,
        TimerRule rule,
        TimerMark mark,
        TimerDesk desk,
        Admission admission,
        TimeProvider time,
        ILogger<TimerInboundEndpoint> logger
    )
        : base(desk, admission)
    {
        (_config, _rule, _mark, _time, _logger) = (config, rule, mark, time, logger);
        desk.Recorded = OnRecorded;
    }

    protected override TimeSpan Interval => UntilNext();

    protected override TimeSpan ShortInterval => TimeSpan.FromMilliseconds(500);

    protected override async ValueTask<IReadOnlyList<TimerTick>> OpenAsync(CancellationToken cancellationToken)
    {
        if (_last is not null)
            return [];
        var last = await _mark.FindAsync(cancellationToken);
        if (last is null)
        {
            last = _time.GetUtcNow(); // nothing was due before the endpoint existed
            await _mark.KeepAsync(last.Value, cancellationToken);
        }

        lock (_gate)
            _last = last;
        return [];
    }

    protected override async ValueTask<PolledLook<DateTimeOffset>> LookAsync(CancellationToken cancellationToken)
    {
        DateTimeOffset last;
        lock (_gate)
        {
            if (_isFiring)
                return Nothing;
            last = _last!.Value;
        }

        var now = _time.GetUtcNow();
        var since = last < now - LookBack ? now - LookBack : last;
        if (_config.Missed == MissedTicks.All)
            return new PolledLook<DateTimeOffset>([.. _rule.Between(since, now).Take(1)], HasMore: false);

        var (count, latest) = LatestOf(_rule.Between(since, now));
        if (latest is not { } tick)
            return Nothing;
        var isFired = _config.Missed == MissedTicks.Once || now - tick <= Grace;
        var skipped = isFired ? count - 1 : count;
        if (skipped > 0)
            LogMissed(_config.Name, skipped, last);
        if (isFired)
            return new PolledLook<DateTimeOffset>([tick], HasMore: false);

        await _mark.KeepAsync(tick, cancellationToken);
        lock (_gate)
            _last = tick;
        return Nothing;
    }

    protected override ValueTask<TimerTick?> ClaimAsync(DateTimeOffset found, CancellationToken cancellationToken)
    {
        lock (_gate)
            _isFiring = true;
        return ValueTask.FromResult<TimerTick?>(TimerTick.Of(_config.Name, found));
    }

    protected override bool IsAway(Exception failure) => failure is EsbException;

    protected override TimeSpan OnAway(Exception cause, bool isFirst)
    {
        if (isFirst)
            LogAway(cause, ((EsbException)cause).Code, _config.Name);
        return PauseWithoutStore;
    }

    protected override void OnBack() => LogBack(_config.Name);

    protected override async Task WaitAsync(NextLook next, CancellationToken cancellationToken)
    {
        using var recorded = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var waking = _recorded.WaitAsync(recorded.Token);
        await Task.WhenAny(waking, Task.Delay(next.Pause, _time, recorded.Token));
        await recorded.CancelAsync();
        await waking.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        cancellationToken.ThrowIfCancellationRequested();
    }

    protected override ValueTask ReleaseAsync()
    {
        _recorded.Dispose();
        return ValueTask.CompletedTask;
    }

    private static (int Count, DateTimeOffset? Latest) LatestOf(IEnumerable<DateTimeOffset> due)
    {
        var (count, latest) = (0, default(DateTimeOffset?));
        foreach (var tick in due)
            (count, latest) = (count + 1, tick);
        return (count, latest);
    }

    private void OnRecorded(DateTimeOffset tick)
    {
        lock (_gate)
        {
            _last = tick;
            _isFiring = false;
            if (_recorded.CurrentCount == 0)
                _recorded.Release();
        }
    }

    private TimeSpan UntilNext()
    {
        var now = _time.GetUtcNow();
        DateTimeOffset? last;
        lock (_gate)
        {
            if (_isFiring)
                return ShortInterval; // the tick may fail and wait for its retry
            last = _last;
        }

        if (_rule.After(last ?? now) is not { } next)
            return LongestPause;
        var pause = next - now;
        return pause <= TimeSpan.Zero ? TimeSpan.Zero
            : pause < LongestPause ? pause
            : LongestPause;
    }

    [LoggerMessage(EventId = 2275, Level = LogLevel.Warning, Message = "{Endpoint} skipped {Count} ticks that were missed since {Since:O}")]
    private partial void LogMissed(string endpoint, int count, DateTimeOffset since);

    [LoggerMessage(
        EventId = 2276,
        Level = LogLevel.Warning,
        Message = "{Code}: the last tick of {Endpoint} cannot be read or recorded; nothing is fired until the store is reachable"
    )]
    private partial void LogAway(Exception cause, string code, string endpoint);

    [LoggerMessage(EventId = 2277, Level = LogLevel.Information, Message = "{Endpoint} fires again: its last tick can be recorded")]
    private partial void LogBack(string endpoint);
}
