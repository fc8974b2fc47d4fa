using Esb.Delivery.Intake.Overload;
using Esb.Delivery.Polling;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>Inbound endpoint that creates a message from each file placed in a folder.</summary>
/// <remarks>A file leaves its claim only after its message has arrived or was refused.</remarks>
internal sealed partial class FileInboundEndpoint(
    FileInboundConfig config,
    FolderScan scan,
    FolderWatch watch,
    FileDesk desk,
    Admission admission,
    TimeProvider time,
    ILogger<FileInboundEndpoint> logger
) : PollingEndpoint<string, ClaimedFile>(desk, admission)
{
    private static readonly TimeSpan PauseWithoutFolder = TimeSpan.FromSeconds(5);

    private FileClaims? _claims;

    protected override TimeSpan Interval => config.Interval;

    protected override TimeSpan ShortInterval => scan.Quiet;

    protected override ValueTask PrepareAsync(CancellationToken cancellationToken)
    {
        try
        {
            Directory.CreateDirectory(config.Folder); // only here: later, a missing folder may be an unmounted volume
        }
        catch (Exception ex) when (IsAway(ex))
        {
            LogAway(ex, CodeOf(ex), config.Name);
        }

        return ValueTask.CompletedTask;
    }

    protected override ValueTask<IReadOnlyList<ClaimedFile>> OpenAsync(CancellationToken cancellationToken)
    {
        if (_claims is not { IsUsable: true })
        {
            _claims?.Dispose();
            _claims = FileClaims.Open(config, time, logger);
        }

        watch.Begin();
        return ValueTask.FromResult(_claims.TakeOver());
    }

    protected override ValueTask<PolledLook<string>> LookAsync(CancellationToken cancellationToken)
    {
        var look = scan.Look();
        return ValueTask.FromResult(new PolledLook<string>(look.Stable, look.HasMore));
    }

    protected override ValueTask<ClaimedFile?> ClaimAsync(string found, CancellationToken cancellationToken)
    {
        try
        {
            return ValueTask.FromResult(_claims!.TryClaim(found));
        }
        catch (UnauthorizedAccessException ex)
        {
            scan.Avoid(found); // the others continue
            LogForbidden(ex, config.Name, SafeFileName.Escape(found));
            return ValueTask.FromResult<ClaimedFile?>(null);
        }
    }

    protected override bool IsAway(Exception failure) => failure is IOException or UnauthorizedAccessException;

    protected override TimeSpan OnAway(Exception cause, bool isFirst)
    {
        if (isFirst)
            LogAway(cause, CodeOf(cause), config.Name);
        watch.End();
        return config.Interval < PauseWithoutFolder ? config.Interval : PauseWithoutFolder;
    }

    protected override string ReasonOf(Exception cause) => $"{CodeOf(cause)}: {cause.Message}";

    protected override void OnBack() => LogBack(config.Name);

    protected override Task WaitAsync(NextLook next, CancellationToken cancellationToken) =>
        watch.WaitAsync(next.Pause, next.IsWakeable, cancellationToken);

    protected override ValueTask ReleaseAsync()
    {
        watch.Dispose();
        _claims?.Dispose();
        return ValueTask.CompletedTask;
    }

    private static string CodeOf(Exception cause) => cause is UnauthorizedAccessException ? "ESB-FILE-ACCESS" : "ESB-FILE-FOLDER";

    [LoggerMessage(
        EventId = 2240,
        Level = LogLevel.Warning,
        Message = "{Code}: the folder of {Endpoint} cannot be read; it is looked for again"
    )]
    private partial void LogAway(Exception cause, string code, string endpoint);

    [LoggerMessage(EventId = 2241, Level = LogLevel.Information, Message = "The folder of {Endpoint} can be read again")]
    private partial void LogBack(string endpoint);

    [LoggerMessage(
        EventId = 2242,
        Level = LogLevel.Warning,
        Message = "ESB-FILE-ACCESS: {Endpoint} may not take '{File}' out of its folder, and passes over it until it changes"
    )]
    private partial void LogForbidden(Exception cause, string endpoint, string file);
}
