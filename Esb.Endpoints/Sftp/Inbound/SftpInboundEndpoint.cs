using Esb.Core.Errors;
using Esb.Delivery.Intake.Overload;
using Esb.Delivery.Polling;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Connections;
using Microsoft.Extensions.Logging;
using Renci.SshNet.Common;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>Inbound endpoint that creates a message from each file of a folder on an SFTP server.</summary>
/// <remarks>A file leaves its claim only after its message has arrived, which is recorded first, or was refused.</remarks>
internal sealed partial class SftpInboundEndpoint(
    SftpInboundConfig config,
    SftpSessions sessions,
    SftpScan scan,
    SftpClaims claims,
    SftpDesk desk,
    Admission admission,
    TimeProvider time,
    ILogger<SftpInboundEndpoint> logger
) : PollingEndpoint<SftpFile, SftpItem>(desk, admission)
{
    private static readonly TimeSpan PauseWithoutServer = TimeSpan.FromSeconds(5);

    protected override TimeSpan Interval => config.Interval;

    protected override TimeSpan ShortInterval => scan.Quiet;

    protected override async ValueTask<IReadOnlyList<SftpItem>> OpenAsync(CancellationToken cancellationToken)
    {
        if (config.Claim == SftpClaimRule.None)
            return [];
        var left = new List<SftpItem>();
        try
        {
            await sessions.UseAsync(
                async (client, limited) =>
                {
                    foreach (var folder in scan.Claimed)
                        await claims.TakeOverAsync(client, folder, left, limited);
                    return true;
                },
                cancellationToken
            );
            return left;
        }
        catch
        {
            foreach (var item in left)
                claims.Forget(item); // found again at the next look
            throw;
        }
    }

    protected override async ValueTask<PolledLook<SftpFile>> LookAsync(CancellationToken cancellationToken) =>
        await sessions.UseAsync(scan.LookAsync, cancellationToken);

    protected override async ValueTask<SftpItem?> ClaimAsync(SftpFile found, CancellationToken cancellationToken)
    {
        try
        {
            return await sessions.UseAsync((client, limited) => claims.TryClaimAsync(client, found, limited), cancellationToken);
        }
        catch (SftpPermissionDeniedException ex)
        {
            scan.Avoid(found); // the others continue
            LogForbidden(ex, config.Name, SafeFileName.Escape(found.Name));
            return null;
        }
    }

    // All but a programming error: its loop goes on whatever the server, the network or the store does.
    protected override bool IsAway(Exception failure) => failure is EsbException || SftpFailures.Of(config.Name, failure) is not null;

    protected override string ReasonOf(Exception cause) => PollingFailure.Describe(FailureOf(cause));

    protected override TimeSpan OnAway(Exception cause, bool isFirst)
    {
        var failure = FailureOf(cause);
        if (isFirst)
            LogAway(cause, failure.Code, config.Name, failure.Detail ?? failure.Message);
        return config.Interval < PauseWithoutServer ? config.Interval : PauseWithoutServer;
    }

    protected override void OnBack() => LogBack(config.Name);

    protected override Task WaitAsync(NextLook next, CancellationToken cancellationToken) =>
        Task.Delay(next.Pause, time, cancellationToken);

    protected override ValueTask ReleaseAsync()
    {
        sessions.Dispose();
        return ValueTask.CompletedTask;
    }

    private EsbException FailureOf(Exception cause) => cause as EsbException ?? SftpFailures.Of(config.Name, cause)!;

    [LoggerMessage(
        EventId = 2350,
        Level = LogLevel.Warning,
        Message = "{Code}: the folder of {Endpoint} cannot be read; it is looked for again. {Detail}"
    )]
    private partial void LogAway(Exception cause, string code, string endpoint, string detail);

    [LoggerMessage(EventId = 2351, Level = LogLevel.Information, Message = "The folder of {Endpoint} can be read again")]
    private partial void LogBack(string endpoint);

    [LoggerMessage(
        EventId = 2352,
        Level = LogLevel.Warning,
        Message = "ESB-SFTP-ACCESS: {Endpoint} may not take '{File}' out of its folder, and passes over it until it changes; a "
            + "folder that is only read needs claim none"
    )]
    private partial void LogForbidden(Exception cause, string endpoint, string file);
}
