using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>Inbound endpoint that makes a message of each file that is put into a folder.</summary>
/// <remarks>
/// Look, claim, hand over, put away. A file leaves its claim only once its message has arrived or was refused, so a crash at any point loses none;
/// what it may do is hand a file over again, as the same message.
/// </remarks>
internal sealed partial class FileInboundEndpoint(
    FileInboundConfig config, FolderScan scan, FolderWatch watch, FileDesk desk, IAuditGate audit, TimeProvider time, ILogger<FileInboundEndpoint> logger) : IInboundEndpoint
{
    private static readonly TimeSpan PauseWithoutFolder = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stopping = new();
    private Task _loop = Task.CompletedTask;
    private FileClaims? _claims;
    private bool _isAway;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        try
        {
            Directory.CreateDirectory(config.Folder); // only here: later, a missing folder may be a volume that is away
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            LogAway(ex, CodeOf(ex), config.Name);
        }

        _loop = Task.Run(RunAsync, CancellationToken.None);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _loop;
        await desk.CloseAsync(cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _loop;
        await desk.DisposeAsync();
        watch.Dispose();
        _claims?.Dispose();
        _stopping.Dispose();
    }

    private async Task RunAsync()
    {
        try
        {
            while (true)
            {
                var (pause, isWakeable) = await TryLookAsync();
                await watch.WaitAsync(pause, isWakeable, _stopping.Token);
            }
        }
        catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
        {
            // Stopped.
        }
    }

    private async Task<(TimeSpan Pause, bool IsWakeable)> TryLookAsync()
    {
        try
        {
            var next = await LookAsync();
            if (_isAway) LogBack(config.Name);
            _isAway = false;
            return next;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            if (!_isAway) LogAway(ex, CodeOf(ex), config.Name);
            _isAway = true;
            watch.End();
            return (config.Interval < PauseWithoutFolder ? config.Interval : PauseWithoutFolder, false);
        }
    }

    private async Task<(TimeSpan Pause, bool IsWakeable)> LookAsync()
    {
        await audit.WaitAsync(_stopping.Token);
        if (_claims is not { IsUsable: true })
        {
            _claims?.Dispose();
            _claims = FileClaims.Open(config, time, logger);
        }

        watch.Begin();
        foreach (var file in (IEnumerable<ClaimedFile>)[.. _claims.TakeOver(), .. desk.TakeDue()]) await desk.TakeAsync(() => file, _stopping.Token);
        if (desk.IsFull) return (scan.Quiet, false);

        var look = scan.Look();
        foreach (var name in look.Stable.TakeWhile(_ => !desk.IsFull)) await desk.TakeAsync(() => Claim(_claims, name), _stopping.Token);
        return look.HasMore || desk.HasWaiting ? (scan.Quiet, false) : (config.Interval, true);
    }

    private ClaimedFile? Claim(FileClaims claims, string name)
    {
        try
        {
            return claims.TryClaim(name);
        }
        catch (UnauthorizedAccessException ex)
        {
            scan.Avoid(name); // the others go on
            LogForbidden(ex, config.Name, SafeFileName.Escape(name));
            return null;
        }
    }

    private static string CodeOf(Exception cause) => cause is UnauthorizedAccessException ? "ESB-FILE-ACCESS" : "ESB-FILE-FOLDER";

    [LoggerMessage(EventId = 2240, Level = LogLevel.Warning, Message = "{Code}: the folder of {Endpoint} cannot be read; it is looked for again")]
    private partial void LogAway(Exception cause, string code, string endpoint);

    [LoggerMessage(EventId = 2241, Level = LogLevel.Information, Message = "The folder of {Endpoint} can be read again")]
    private partial void LogBack(string endpoint);

    [LoggerMessage(EventId = 2242, Level = LogLevel.Warning, Message = "ESB-FILE-ACCESS: {Endpoint} may not take '{File}' out of its folder, and passes over it until it changes")]
    private partial void LogForbidden(Exception cause, string endpoint, string file);
}
