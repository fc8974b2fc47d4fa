using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>Claims files for this host by renaming them into its own folder, and takes over the claims of dead hosts. Used by one caller at
/// a time.</summary>
/// <remarks>
/// <c>FOLDER/.claimed/OWNER/MESSAGE-ID/NAME</c>: a live owner locks a file in its folder; the system releases the lock when the owner dies.
/// A rename succeeds for one host only. It also fixes the message id: a file that is handed over again after a crash is the same message.
/// A claim does not name its endpoint. The patterns of endpoints that share a folder are disjoint, so the file name identifies the
/// endpoint.
/// </remarks>
internal sealed partial class FileClaims : IDisposable
{
    private const string LockName = ".lock";
    private const UnixFileMode Private = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;

    private static readonly TimeSpan LongestUntaken = TimeSpan.FromMinutes(1); // a started endpoint takes over its own claims at once

    private readonly FileInboundConfig _config;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly ReadyRule? _ready;
    private readonly string _all;
    private readonly string _own;
    private readonly FileStream _lock;
    private readonly HashSet<string> _told = [];
    private readonly Dictionary<string, long> _untaken = [];

    private FileClaims(FileInboundConfig config, TimeProvider time, ILogger logger, string all, string own, FileStream ownLock)
    {
        (_config, _time, _logger, _all, _own, _lock) = (config, time, logger, all, own, ownLock);
        _ready = config.Ready is { } ready ? ReadyRule.Parse(ready) : null;
    }

    /// <summary>True if the claims are still usable; their folder may have disappeared with its volume.</summary>
    public bool IsUsable => Directory.Exists(_own);

    /// <summary>Starts claiming.</summary>
    /// <exception cref="IOException">The folder does not exist, or cannot be written to, or its folder of claims is a link.</exception>
    public static FileClaims Open(FileInboundConfig config, TimeProvider time, ILogger logger)
    {
        if (!Directory.Exists(config.Folder))
            throw new DirectoryNotFoundException("The folder does not exist.");
        var all = Path.Combine(config.Folder, ".claimed");
        var owner = Guid.NewGuid().ToString("N");
        var unlocked = Path.Combine(all, $".{owner}"); // other hosts look at it only under its final name, when it is locked
        MakeFolder(all);
        FileArchive.RefuseLink(all);
        MakeFolder(unlocked);
        var ownLock = new FileStream(Path.Combine(unlocked, LockName), FileMode.CreateNew, FileAccess.ReadWrite, FileShare.None);
        var own = Path.Combine(all, owner);
        Directory.Move(unlocked, own);
        return new FileClaims(config, time, logger, all, own, ownLock);
    }

    /// <summary>Claims a file of the folder; null if the file is gone, claimed by another host or removed by its owner.</summary>
    /// <param name="relative">The path of the file, relative to the folder.</param>
    public ClaimedFile? TryClaim(string relative)
    {
        var id = Guid.CreateVersion7(_time.GetUtcNow());
        var source = Path.Combine(_config.Folder, relative);
        var claim = new ClaimedFile(id, Path.Combine(_own, id.ToString("N")), Path.GetFileName(relative));
        MakeFolder(claim.Folder);
        try
        {
            // The trigger goes first: a crash between the two leaves it in the claim, from which it is put back.
            if (_ready is not null)
                File.Move(
                    Path.Combine(Path.GetDirectoryName(source)!, _ready.TriggerOf(claim.Name)),
                    ClaimedFile.TriggerIn(claim.Folder, _ready.TriggerOf(claim.Name))
                );
            File.Move(source, claim.Path);
            return claim;
        }
        catch (FileNotFoundException)
        {
            var shown = SafeFileName.Escape(relative);
            LogGone(_config.Name, shown);
            ReturnTrigger(claim.Folder, Path.GetDirectoryName(source)!, isFileGone: true);
            Directory.Delete(claim.Folder);
            return null;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            ReturnTrigger(claim.Folder, Path.GetDirectoryName(source)!, isFileGone: false);
            Directory.Delete(claim.Folder);
            throw;
        }
    }

    /// <summary>Takes over the files of dead owners whose names match the pattern, with their existing message ids.</summary>
    public IReadOnlyList<ClaimedFile> TakeOver()
    {
        var taken = new List<ClaimedFile>();
        foreach (var other in Directory.EnumerateDirectories(_all))
        {
            if (other != _own && Path.GetFileName(other)[0] != '.')
                TakeOver(other, taken);
        }

        return taken;
    }

    /// <summary>Deletes the claim of an archived file, with its trigger.</summary>
    /// <param name="claim">The claim.</param>
    /// <param name="hasTrigger">False if there should be none: the folder is not looked through then.</param>
    public static void Release(ClaimedFile claim, bool hasTrigger)
    {
        if (!hasTrigger && TryDelete(claim.Folder))
            return;
        if (ClaimedFile.FindTrigger(claim.Folder) is { } trigger)
            File.Delete(trigger.Path);
        Directory.Delete(claim.Folder);
    }

    // Not empty: the trigger of a file that was claimed before the setting was changed.
    private static bool TryDelete(string folder)
    {
        try
        {
            Directory.Delete(folder);
            return true;
        }
        catch (IOException)
        {
            return false;
        }
    }

    /// <summary>Gives up ownership; the next owner that scans takes over the remaining claims.</summary>
    public void Dispose()
    {
        _lock.Dispose();
        try
        {
            if (!Directory.EnumerateDirectories(_own).Any())
                Directory.Delete(_own, recursive: true);
        }
        catch (DirectoryNotFoundException)
        {
            // Another host has cleaned it up, or the volume is gone.
        }
    }

    private void TakeOver(string other, List<ClaimedFile> taken)
    {
        var before = taken.Count;
        try
        {
            using var lockOfDead = new FileStream(Path.Combine(other, LockName), FileMode.Open, FileAccess.ReadWrite, FileShare.None);
            var isEmpty = true;
            foreach (var left in Directory.GetDirectories(other))
                isEmpty &= TryTakeOver(left, taken);
            if (isEmpty)
                Directory.Delete(other, recursive: true);
        }
        catch (IOException ex)
        {
            LogOwned(ex, _config.Name); // its owner lives, or another host was quicker
        }
        catch (UnauthorizedAccessException ex)
        {
            Forbid(other, ex);
        }

        if (taken.Count > before)
            LogTakenOver(_config.Name, taken.Count - before);
    }

    // A claim that cannot be taken over does not block the others.
    private bool TryTakeOver(string left, List<ClaimedFile> taken)
    {
        try
        {
            if (ClaimedFile.Find(left) is { } found && !NamePatterns.Matches(_config.Pattern, found.Name))
            {
                Leave(found);
                return false;
            }

            var mine = Path.Combine(_own, Path.GetFileName(left));
            Directory.Move(left, mine);
            if (ClaimedFile.Find(mine) is { } claim)
                taken.Add(claim);
            else
                DeleteEmpty(mine); // its owner died between two steps
            return true;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            Forbid(left, ex);
            return false;
        }
    }

    private void DeleteEmpty(string claim)
    {
        ReturnTrigger(claim, _config.Folder, isFileGone: false);
        Directory.Delete(claim);
    }

    // Puts a trigger back whose file was not claimed. Without a file, or where there is a new one, it has no purpose.
    private static void ReturnTrigger(string claim, string folder, bool isFileGone)
    {
        if (ClaimedFile.FindTrigger(claim) is not { } trigger)
            return;
        if (isFileGone || !FinalName.TryTake(trigger.Path, Path.Combine(folder, trigger.Name)))
            File.Delete(trigger.Path);
    }

    // The file belongs to another endpoint of this folder, or to none if a pattern was changed or an endpoint removed.
    private void Leave(ClaimedFile claim)
    {
        if (
            _untaken.TryAdd(claim.Folder, _time.GetTimestamp())
            || _time.GetElapsedTime(_untaken[claim.Folder]) < LongestUntaken
            || !_told.Add(claim.Folder)
        )
            return;
        LogUntaken(_config.Name, SafeFileName.Escape(claim.Name), claim.Folder);
    }

    // Retried at every scan, logged once.
    private void Forbid(string path, Exception cause)
    {
        if (_told.Add(path))
            LogForbidden(cause, _config.Name);
    }

    private static void MakeFolder(string path)
    {
        if (OperatingSystem.IsWindows())
            Directory.CreateDirectory(path);
        else
            Directory.CreateDirectory(path, Private);
    }

    [LoggerMessage(EventId = 2220, Level = LogLevel.Debug, Message = "{Endpoint} found '{File}' gone when it took it")]
    private partial void LogGone(string endpoint, string file);

    [LoggerMessage(
        EventId = 2221,
        Level = LogLevel.Information,
        Message = "{Endpoint} takes up {Count} files that a host left when it ended"
    )]
    private partial void LogTakenOver(string endpoint, int count);

    [LoggerMessage(EventId = 2222, Level = LogLevel.Trace, Message = "{Endpoint} leaves the claims of another host alone")]
    private partial void LogOwned(Exception exception, string endpoint);

    [LoggerMessage(
        EventId = 2223,
        Level = LogLevel.Warning,
        Message = "{Endpoint} may not take over the files that a stopped host had claimed; it tries again with the next scan"
    )]
    private partial void LogForbidden(Exception exception, string endpoint);

    [LoggerMessage(
        EventId = 2224,
        Level = LogLevel.Warning,
        Message = "{Endpoint} leaves '{File}', which a host had claimed when it ended, as its pattern has no such name; where no "
            + "other endpoint of the folder has, move it back out of {Claim}"
    )]
    private partial void LogUntaken(string endpoint, string file, string claim);
}
