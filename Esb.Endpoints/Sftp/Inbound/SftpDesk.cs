using System.Net.Sockets;
using Esb.Core.Errors;
using Esb.Delivery.Intake.Overload;
using Esb.Delivery.Polling;
using Esb.Endpoints.Sftp.Connections;
using Microsoft.Extensions.Logging;
using Renci.SshNet.Common;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>Processes claimed files: hands each over, records that its message has arrived, and puts it away; or delays it and
/// retries.</summary>
internal sealed partial class SftpDesk(
    SftpInboundConfig config,
    SftpSessions sessions,
    SftpHandOver handOver,
    SftpClaims claims,
    SftpArchive archive,
    Admission admission,
    TimeProvider time,
    ILogger<SftpDesk> logger
) : PollingDesk<SftpItem>(admission, time)
{
    protected override Task<Task> HandOverAsync(SftpItem item, CancellationToken cancellationToken) =>
        handOver.HandOverAsync(item, cancellationToken);

    protected override async ValueTask PutAwayAsync(SftpItem item)
    {
        // Recorded before the file changes: after a crash between the two only this step is repeated.
        var isRecorded = item.Refusal is null || config.Claim == SftpClaimRule.None;
        if (isRecorded)
            await claims.RecordAsync(item);
        if (config.Claim == SftpClaimRule.Rename)
        {
            await sessions.UseAsync(
                async (client, limited) =>
                {
                    await archive.PutAwayAsync(client, item, claims.TriggerOf(item), limited);
                    return true;
                },
                CancellationToken.None
            );
        }

        await claims.ReleaseAsync(item, isRecorded);
    }

    protected override bool IsGone(Exception failure) => failure is SftpPathNotFoundException or SftpChangedException;

    protected override bool MayPass(Exception failure) =>
        failure is SshException or SocketException or IOException or ObjectDisposedException or TimeoutException;

    protected override bool MayPassLater(Exception failure) => MayPass(failure) || failure is EsbException or OperationCanceledException;

    protected override void OnWaiting(SftpItem item, Exception cause) =>
        LogWaits(cause, (cause as EsbException)?.Code ?? "ESB-SFTP-LOST", item.MessageId, config.Name);

    protected override void OnRefused(SftpItem item, EsbException cause) => LogRefused(cause, cause.Code, item.MessageId, config.Name);

    protected override PolledRefusal OnFailed(SftpItem item, Exception cause)
    {
        LogFailed(cause, item.MessageId, config.Name);
        return new PolledRefusal("ESB-INTERNAL", "The file could not be worked on; the log of the host says why.");
    }

    protected override void OnNotPutAway(SftpItem item, Exception cause) =>
        LogNotPutAway(
            cause,
            SftpFailures.Of(config.Name, cause)?.Code ?? (cause as EsbException)?.Code ?? "ESB-SFTP-FAILED",
            item.MessageId,
            config.Name
        );

    protected override void OnGone(SftpItem item, Exception cause)
    {
        claims.Forget(item);
        LogGone(cause, item.MessageId, config.Name);
    }

    protected override void OnLeft(int count) => LogLeft(config.Name, count);

    [LoggerMessage(
        EventId = 2343,
        Level = LogLevel.Warning,
        Message = "{Code}: message {MessageId} of {Endpoint} was not taken; its file is tried again"
    )]
    private partial void LogWaits(Exception cause, string code, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2344,
        Level = LogLevel.Warning,
        Message = "{Code}: message {MessageId} of {Endpoint} was refused; its file goes to the folder of errors"
    )]
    private partial void LogRefused(Exception cause, string code, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2345,
        Level = LogLevel.Error,
        Message = "ESB-INTERNAL: message {MessageId} of {Endpoint} failed; its file goes to the folder of errors"
    )]
    private partial void LogFailed(Exception cause, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2346,
        Level = LogLevel.Warning,
        Message = "{Code}: the file of message {MessageId} of {Endpoint} cannot be put away; only that is tried again"
    )]
    private partial void LogNotPutAway(Exception cause, string code, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2347,
        Level = LogLevel.Debug,
        Message = "The file of message {MessageId} of {Endpoint} has gone, or has changed and is found again"
    )]
    private partial void LogGone(Exception cause, Guid messageId, string endpoint);

    [LoggerMessage(
        EventId = 2348,
        Level = LogLevel.Information,
        Message = "{Endpoint} leaves {Count} files claimed, whose messages have not arrived yet"
    )]
    private partial void LogLeft(string endpoint, int count);
}
