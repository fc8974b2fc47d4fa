using Esb.Core.Errors;
using Esb.Delivery.Intake.Overload;
using Esb.Delivery.Polling;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>Processes claimed files: hands each over, waits until its message has arrived and archives it; or delays it and
/// retries.</summary>
internal sealed partial class FileDesk(
    FileInboundConfig config,
    FileHandOver handOver,
    Admission admission,
    FileArchive archive,
    TimeProvider time,
    ILogger<FileDesk> logger
) : PollingDesk<ClaimedFile>(admission, time)
{
    protected override Task<Task> HandOverAsync(ClaimedFile item, CancellationToken cancellationToken) =>
        handOver.HandOverAsync(item, cancellationToken);

    protected override ValueTask PutAwayAsync(ClaimedFile item)
    {
        archive.PutAway(item);
        return ValueTask.CompletedTask;
    }

    protected override bool IsGone(Exception failure) => failure is FileNotFoundException or DirectoryNotFoundException;

    protected override bool MayPass(Exception failure) => failure is IOException;

    protected override bool MayPassLater(Exception failure) => failure is IOException or UnauthorizedAccessException;

    protected override void OnWaiting(ClaimedFile item, Exception cause) =>
        LogWaits(cause, (cause as EsbException)?.Code ?? "ESB-FILE-IO", item.MessageId, config.Name);

    protected override void OnRefused(ClaimedFile item, EsbException cause) => LogRefused(cause, cause.Code, item.MessageId, config.Name);

    protected override PolledRefusal OnFailed(ClaimedFile item, Exception cause)
    {
        LogFailed(cause, item.MessageId, config.Name);
        return new PolledRefusal("ESB-INTERNAL", "The file could not be worked on; the log of the host says why.");
    }

    protected override void OnNotPutAway(ClaimedFile item, Exception cause) => LogNotMoved(cause, item.MessageId, config.Name);

    protected override void OnGone(ClaimedFile item, Exception cause) => LogGone(cause, item.MessageId, config.Name);

    protected override void OnLeft(int count) => LogLeft(config.Name, count);

    [LoggerMessage(
        EventId = 2250,
        Level = LogLevel.Warning,
        Message = "{Code}: message {MessageId} of {Endpoint} was not taken; its file is tried again"
    )]
    private partial void LogWaits(Exception cause, string code, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2251,
        Level = LogLevel.Warning,
        Message = "{Code}: message {MessageId} of {Endpoint} was refused; its file goes to the folder of errors"
    )]
    private partial void LogRefused(Exception cause, string code, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2252,
        Level = LogLevel.Error,
        Message = "ESB-INTERNAL: message {MessageId} of {Endpoint} failed; its file goes to the folder of errors"
    )]
    private partial void LogFailed(Exception cause, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2253,
        Level = LogLevel.Warning,
        Message = "ESB-FILE-ACCESS: the file of message {MessageId} of {Endpoint} cannot be put away; only that is tried again"
    )]
    private partial void LogNotMoved(Exception cause, Guid messageId, string endpoint);

    [LoggerMessage(EventId = 2254, Level = LogLevel.Debug, Message = "The file of message {MessageId} of {Endpoint} has gone")]
    private partial void LogGone(Exception cause, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2255,
        Level = LogLevel.Information,
        Message = "{Endpoint} leaves {Count} files claimed, whose messages have not arrived yet"
    )]
    private partial void LogLeft(string endpoint, int count);
}
