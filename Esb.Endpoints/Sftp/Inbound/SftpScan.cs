using Esb.Delivery.Polling;
using Esb.Endpoints.Files;
using Esb.Endpoints.Sftp.Connections;
using Microsoft.Extensions.Logging;
using Renci.SshNet;
using Renci.SshNet.Sftp;

namespace Esb.Endpoints.Sftp.Inbound;

/// <summary>Scans a folder on a server for files that are no longer being written. Used by one caller at a time.</summary>
/// <remarks>Keeps only the first files in order: memory does not grow with the folder, except for the ids of files that stay there with
/// <c>claim: none</c>.</remarks>
internal sealed partial class SftpScan(
    SftpInboundConfig config,
    string folder,
    SftpClaims claims,
    ReadyRule? ready,
    TimeProvider time,
    ILogger<SftpScan> logger
)
{
    /// <summary>The name of the folder of claims.</summary>
    public const string ClaimFolder = ".esb";

    private const int DeepestFolder = 16;
    private const int LongestName = 255;

    private static readonly TimeSpan LongestQuiet = TimeSpan.FromSeconds(1);

    private readonly string? _movedTo = SftpFolderRule.MoveTarget(config.After);
    private Dictionary<string, Seen> _seen = [];
    private HashSet<string> _skipped = [];
    private HashSet<string> _skippedBefore = [];

    /// <summary>The time for which a file must stay unchanged before it is read.</summary>
    public TimeSpan Quiet { get; } = config.Interval < LongestQuiet ? config.Interval : LongestQuiet;

    /// <summary>The folders, relative to that of the endpoint, that have a folder of claims.</summary>
    public IReadOnlyCollection<string> Claimed { get; private set; } = [""];

    /// <summary>Scans the folder once.</summary>
    public async Task<PolledLook<SftpFile>> LookAsync(SftpClient client, CancellationToken cancellationToken)
    {
        (_skippedBefore, _skipped) = (_skipped, []);
        var triggers = ready is null ? null : await TriggersAsync(client, cancellationToken);
        var first = new PriorityQueue<SftpFile, SftpFile>(Comparer<SftpFile>.Create((left, right) => Compare(right, left)));
        var claimed = new HashSet<string> { "" };
        var taken = new HashSet<Guid>();
        await foreach (var entry in EntriesAsync(client, "", depth: 0, claimed, cancellationToken))
        {
            if (!IsWanted(entry, triggers) || claims.IsHeld(entry) || claims.IsTaken(entry, taken))
                continue;
            if (first.Count < config.MaxFiles)
                first.Enqueue(entry, entry);
            else
                first.EnqueueDequeue(entry, entry);
        }

        claims.KeepTaken(taken);
        Claimed = claimed;
        var files = first.UnorderedItems.Select(item => item.Element).ToList();
        files.Sort(Compare);
        return Choose(files);
    }

    /// <summary>Skips a file as long as it stays unchanged.</summary>
    public void Avoid(SftpFile file)
    {
        if (_seen.TryGetValue(file.Relative, out var seen))
            _seen[file.Relative] = seen with { IsAvoided = true };
    }

    private PolledLook<SftpFile> Choose(List<SftpFile> files)
    {
        var now = time.GetTimestamp();
        var seen = new Dictionary<string, Seen>(files.Count);
        var chosen = new List<SftpFile>();
        var waits = false;
        foreach (var file in files)
        {
            var known = _seen.TryGetValue(file.Relative, out var before) && before.File == file ? before : new Seen(file, now);
            seen[file.Relative] = known;
            if (known.IsAvoided)
                continue;
            var unchanged = time.GetElapsedTime(known.Since, now);
            if ((ready is not null || unchanged >= Quiet) && AgeOf(file, unchanged) >= config.MinimumAge)
                chosen.Add(file);
            else
                waits |= unchanged < Quiet;
        }

        _seen = seen;
        return new PolledLook<SftpFile>(chosen, HasMore: waits || files.Count == config.MaxFiles);
    }

    // By the clock of the server; a date in the future counts from when the file was found.
    private TimeSpan AgeOf(SftpFile file, TimeSpan unchanged) =>
        time.GetUtcNow().UtcDateTime - file.Modified is var age && age > unchanged ? age : unchanged;

    private async Task<HashSet<string>> TriggersAsync(SftpClient client, CancellationToken cancellationToken)
    {
        var first = new PriorityQueue<string, string>(Comparer<string>.Create((left, right) => string.CompareOrdinal(right, left)));
        await foreach (var entry in EntriesAsync(client, "", depth: 0, [], cancellationToken))
        {
            if (ready!.FileOf(entry.Name) is not { } name)
                continue;
            var relative = SftpAddress.Join(entry.Folder, name);
            if (first.Count < config.MaxFiles)
                first.Enqueue(relative, relative);
            else
                first.EnqueueDequeue(relative, relative);
        }

        return [.. first.UnorderedItems.Select(item => item.Element)];
    }

    private bool IsWanted(SftpFile file, HashSet<string>? triggers)
    {
        if (
            file.Name.EndsWith(".tmp", StringComparison.OrdinalIgnoreCase)
            || file.Name.EndsWith(FinalName.Unfinished, StringComparison.OrdinalIgnoreCase)
        )
            return false;
        if (!NamePatterns.Matches(config.Pattern, file.Name))
            return false;
        return ready is null || (ready.FileOf(file.Name) is null && triggers!.Contains(file.Relative));
    }

    // Plain files whose names are safe, of this folder and, if configured, of those below it.
    private async IAsyncEnumerable<SftpFile> EntriesAsync(
        SftpClient client,
        string relative,
        int depth,
        HashSet<string> claimed,
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        var path = relative.Length == 0 ? folder : SftpAddress.Join(folder, relative);
        var below = new List<string>();
        string? place = null;
        await foreach (var entry in client.ListDirectoryAsync(path, cancellationToken))
        {
            if (entry.Name is "." or "..")
                continue;
            place ??= entry.FullName[..^entry.Name.Length];
            if (entry is { IsDirectory: true, Name: ClaimFolder })
                claimed.Add(relative);
            if (entry.Name.Length == 0 || entry.Name[0] == '.')
                continue;
            if (!IsSafe(entry, place))
                continue;
            if (entry.IsRegularFile)
                yield return new SftpFile(relative, entry.Name, entry.Length, entry.LastWriteTimeUtc);
            else if (!entry.IsDirectory)
                Skip(entry.IsSymbolicLink ? "ESB-FILE-LINK" : "ESB-FILE-KIND", entry.Name);
            else if (config.Recursive && depth < DeepestFolder && !IsOurs(SftpAddress.Join(relative, entry.Name)))
                below.Add(entry.Name);
        }

        foreach (var name in below)
        {
            await foreach (var file in EntriesAsync(client, SftpAddress.Join(relative, name), depth + 1, claimed, cancellationToken))
                yield return file;
        }
    }

    // A server decides on the names that it shows: one with a separator would lead out of the folder.
    private bool IsSafe(ISftpFile entry, string place)
    {
        if (
            entry.FullName == place + entry.Name
            && entry.Name.Length <= LongestName
            && !entry.Name.Contains('\\')
            && !entry.Name.Contains('\uFFFD')
            && SafeFileName.Escape(entry.Name) == entry.Name
        )
            return true;
        Skip("ESB-FILE-NAME", entry.Name);
        return false;
    }

    private bool IsOurs(string relative) => relative == _movedTo || relative == config.Error;

    private void Skip(string code, string name)
    {
        if (_skipped.Count >= config.MaxFiles)
            return;
        var shown = SafeFileName.Escape(name);
        if (_skipped.Add(shown) && !_skippedBefore.Contains(shown))
            LogSkipped(code, config.Name, shown);
    }

    private int Compare(SftpFile left, SftpFile right)
    {
        var byTime = config.Order == FileOrder.Time ? left.Modified.CompareTo(right.Modified) : 0;
        return byTime != 0 ? byTime : string.CompareOrdinal(left.Relative, right.Relative);
    }

    [LoggerMessage(
        EventId = 2340,
        Level = LogLevel.Warning,
        Message = "{Code}: {Endpoint} passes over '{File}' on its server, which is no plain file with a plain name; this is said once"
    )]
    private partial void LogSkipped(string code, string endpoint, string file);

    private sealed record Seen(SftpFile File, long Since)
    {
        public bool IsAvoided { get; init; }
    }
}
