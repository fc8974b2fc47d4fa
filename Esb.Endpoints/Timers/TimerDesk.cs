using Esb.Core.Errors;
using Esb.Delivery.Intake.Overload;
using Esb.Delivery.Polling;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Timers;

/// <summary>Processes the ticks of a timer: hands each over until its message has arrived, and then records it as the last tick.</summary>
internal sealed partial class TimerDesk(
    TimerInboundConfig config,
    TimerHandOver handOver,
    TimerMark mark,
    Admission admission,
    TimeProvider time,
    ILogger<TimerDesk> logger
) : PollingDesk<TimerTick>(admission, time)
{
    /// <summary>Called after a tick was recorded as the last one.</summary>
    public Action<DateTimeOffset>? Recorded { get; set; }

    protected override Task<Task> HandOverAsync(TimerTick item, CancellationToken cancellationToken) =>
        handOver.HandOverAsync(item, cancellationToken);

    protected override async ValueTask PutAwayAsync(TimerTick item)
    {
        await mark.KeepAsync(item.Due, CancellationToken.None);
        Recorded?.Invoke(item.Due);
    }

    protected override bool IsGone(Exception failure) => false;

    protected override bool MayPass(Exception failure) => false; // a tick is read from nowhere

    protected override bool MayPassLater(Exception failure) => failure is EsbException;

    protected override void OnWaiting(TimerTick item, Exception cause) =>
        LogWaits(cause, (cause as EsbException)?.Code ?? "ESB-INTERNAL", item.Due, item.MessageId, config.Name);

    protected override void OnRefused(TimerTick item, EsbException cause) =>
        LogRefused(cause, cause.Code, item.Due, item.MessageId, config.Name);

    protected override PolledRefusal OnFailed(TimerTick item, Exception cause)
    {
        LogFailed(cause, item.Due, item.MessageId, config.Name);
        return new PolledRefusal("ESB-INTERNAL", "The tick could not be processed; the log of the host says why.");
    }

    protected override void OnNotPutAway(TimerTick item, Exception cause) =>
        LogNotRecorded(cause, (cause as EsbException)?.Code ?? "ESB-INTERNAL", item.Due, item.MessageId, config.Name);

    protected override void OnGone(TimerTick item, Exception cause) =>
        throw new InvalidOperationException("A tick cannot disappear.", cause);

    protected override void OnLeft(int count) => LogLeft(config.Name, count);

    [LoggerMessage(
        EventId = 2270,
        Level = LogLevel.Warning,
        Message = "{Code}: the tick {Due:O} (message {MessageId}) of {Endpoint} was not accepted; it is retried"
    )]
    private partial void LogWaits(Exception cause, string code, DateTimeOffset due, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2271,
        Level = LogLevel.Warning,
        Message = "{Code}: the tick {Due:O} (message {MessageId}) of {Endpoint} was refused"
    )]
    private partial void LogRefused(Exception cause, string code, DateTimeOffset due, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2272,
        Level = LogLevel.Error,
        Message = "ESB-INTERNAL: the tick {Due:O} (message {MessageId}) of {Endpoint} failed"
    )]
    private partial void LogFailed(Exception cause, DateTimeOffset due, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2273,
        Level = LogLevel.Warning,
        Message = "{Code}: the tick {Due:O} (message {MessageId}) of {Endpoint} was accepted, but cannot be recorded; only that is retried"
    )]
    private partial void LogNotRecorded(Exception cause, string code, DateTimeOffset due, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2274,
        Level = LogLevel.Information,
        Message = "{Endpoint} stops with {Count} ticks whose messages have not arrived; they are fired again after the start"
    )]
    private partial void LogLeft(string endpoint, int count);
}
