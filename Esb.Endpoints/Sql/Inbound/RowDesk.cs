using Esb.Core.Errors;
using Esb.Delivery.Intake.Overload;
using Esb.Delivery.Polling;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Sql.Inbound;

/// <summary>Runs the polls of an endpoint, one at a time; a failed one is repeated after a pause that doubles up to 30 s.</summary>
internal sealed partial class RowDesk(
    SqlInboundConfig config,
    RowTaker taker,
    Admission admission,
    TimeProvider time,
    ILogger<RowDesk> logger
) : PollingDesk<RowPoll>(admission, time)
{
    private volatile string? _reason;

    /// <summary>Why rows cannot be taken; null if they can.</summary>
    public string? Reason => _reason;

    /// <summary>Called after a poll, with the number of rows that it took.</summary>
    public Action<int>? Ended { get; set; }

    protected override async Task<Task> HandOverAsync(RowPoll item, CancellationToken cancellationToken)
    {
        var taken = await taker.TakeAsync(cancellationToken);
        if (item.Failures > 0)
            LogBack(config.Name);
        _reason = null;
        Ended?.Invoke(taken);
        return Task.CompletedTask;
    }

    protected override ValueTask PutAwayAsync(RowPoll item) => ValueTask.CompletedTask; // marked in the transaction

    protected override bool IsGone(Exception failure) => false;

    // the rows are still there, and the statement may be corrected in the database
    protected override bool MayPass(Exception failure) => true;

    protected override bool MayPassLater(Exception failure) => false;

    protected override void OnWaiting(RowPoll item, Exception cause)
    {
        _reason = PollingFailure.Describe(cause);
        LogFailed(cause, (cause as EsbException)?.Code ?? "ESB-INTERNAL", config.Name);
    }

    protected override void OnRefused(RowPoll item, EsbException cause) => LogFailed(cause, cause.Code, config.Name);

    protected override PolledRefusal OnFailed(RowPoll item, Exception cause) =>
        throw new InvalidOperationException("Every failed poll is repeated.", cause);

    protected override void OnNotPutAway(RowPoll item, Exception cause) =>
        throw new InvalidOperationException("Rows are marked in the transaction.", cause);

    protected override void OnGone(RowPoll item, Exception cause) => throw new InvalidOperationException("A poll cannot disappear.", cause);

    protected override void OnLeft(int count) => LogLeft(config.Name);

    [LoggerMessage(EventId = 2332, Level = LogLevel.Warning, Message = "{Code}: {Endpoint} cannot take its rows; it tries again")]
    private partial void LogFailed(Exception cause, string code, string endpoint);

    [LoggerMessage(EventId = 2333, Level = LogLevel.Information, Message = "{Endpoint} takes its rows again")]
    private partial void LogBack(string endpoint);

    [LoggerMessage(EventId = 2334, Level = LogLevel.Information, Message = "{Endpoint} stops during a poll, which is rolled back")]
    private partial void LogLeft(string endpoint);
}
