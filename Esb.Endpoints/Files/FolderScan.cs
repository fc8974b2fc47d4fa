using System.IO.Enumeration;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Files;

/// <summary>The result of one folder scan.</summary>
/// <param name="Stable">The names of the files that are ready to be read, sorted.</param>
/// <param name="HasMore">True if another scan is due soon: files may still be written, or there were too many for one scan.</param>
internal sealed record FolderLook(IReadOnlyList<string> Stable, bool HasMore);

/// <summary>Scans a folder for files that are no longer being written. Used by one caller at a time.</summary>
/// <remarks>Keeps only the first names in order and skips the rest: memory does not grow with the folder, and wrong dates do not
/// matter.</remarks>
internal sealed partial class FolderScan(FileInboundConfig config, TimeProvider time, ILogger<FolderScan> logger)
{
    /// <summary>The maximum number of files per scan.</summary>
    public const int Most = 4_000;

    private static readonly TimeSpan LongestQuiet = TimeSpan.FromSeconds(1);

    private readonly ReadyRule? _ready = config.Ready is { } text ? ReadyRule.Parse(text) : null;
    private Dictionary<string, Seen> _seen = [];
    private HashSet<string> _skipped = [];

    /// <summary>The time for which a file must stay unchanged before it is read.</summary>
    public TimeSpan Quiet { get; } = config.Interval < LongestQuiet ? config.Interval : LongestQuiet;

    /// <summary>Scans the folder once.</summary>
    /// <exception cref="IOException">The folder cannot be read.</exception>
    /// <exception cref="UnauthorizedAccessException">Access to the folder is denied.</exception>
    public FolderLook Look()
    {
        var now = time.GetTimestamp();
        var names = FirstNames();
        var stable = new List<string>();
        var seen = new Dictionary<string, Seen>(names.Count);
        var skipped = new HashSet<string>();
        var growing = 0;
        foreach (var name in names)
        {
            if (Examine(name, now, skipped) is not { } file)
                continue;
            if (_seen.TryGetValue(name, out var before) && before.IsSameAs(file))
                file = before;
            seen[name] = file;
            if (file.IsAvoided)
                continue;
            var unchanged = time.GetElapsedTime(file.Since, now);
            if (unchanged < Quiet)
                growing++;
            else if (AgeOf(file, unchanged) >= config.MinimumAge)
                stable.Add(name);
        }

        _seen = seen;
        _skipped = skipped;
        return new FolderLook(stable, HasMore: growing > 0 || names.Count == Most);
    }

    /// <summary>Skips a file as long as it stays unchanged.</summary>
    public void Avoid(string name)
    {
        if (_seen.TryGetValue(name, out var file))
            _seen[name] = file with { IsAvoided = true };
    }

    // A date in the future counts from when the file was found.
    private TimeSpan AgeOf(Seen file, TimeSpan unchanged) =>
        time.GetUtcNow().UtcDateTime - file.LastWrite is var age && age > unchanged ? age : unchanged;

    private Seen? Examine(string name, long now, HashSet<string> skipped)
    {
        var path = Path.Combine(config.Folder, name);
        try
        {
            var file = new FileInfo(path);
            if (file.LinkTarget is null && Posix.IsRegularFile(path))
                return new Seen(file.Length, file.LastWriteTimeUtc, now);
            if (IsFirst(name, skipped))
                LogSkipped(file.LinkTarget is null ? "ESB-FILE-KIND" : "ESB-FILE-LINK", config.Name, SafeFileName.Escape(name));
        }
        catch (IOException)
        {
            // The file was removed meanwhile, or its name is not valid UTF-8 and cannot be looked up.
            var shown = SafeFileName.Escape(name);
            if (name.Contains('\uFFFD') && IsFirst(name, skipped))
                LogSkipped("ESB-FILE-NAME", config.Name, shown);
            else
                LogGone(config.Name, shown);
        }

        return null;
    }

    private bool IsFirst(string name, HashSet<string> skipped)
    {
        skipped.Add(name);
        return !_skipped.Contains(name);
    }

    // Paths relative to the folder, in the configured order.
    private List<string> FirstNames()
    {
        var order = Comparer<Found>.Create(Compare);
        var first = new PriorityQueue<Found, Found>(Comparer<Found>.Create((left, right) => Compare(right, left)));
        var all = new FileSystemEnumerable<Found>(
            config.Folder,
            (ref entry) => FoundAt(ref entry),
            new EnumerationOptions
            {
                AttributesToSkip = 0,
                IgnoreInaccessible = false,
                RecurseSubdirectories = config.Recursive,
            }
        )
        {
            ShouldIncludePredicate = (ref entry) =>
                IsWanted(ref entry) && (first.Count < Most || Compare(FoundAt(ref entry), first.Peek()) < 0),
            ShouldRecursePredicate = (ref entry) =>
                entry.FileName[0] != '.' && (entry.Attributes & FileAttributes.ReparsePoint) == 0 && !IsOurs(entry.ToFullPath()),
        };
        foreach (var found in all)
        {
            if (first.Count < Most)
                first.Enqueue(found, found);
            else
                first.EnqueueDequeue(found, found);
        }

        var names = first.UnorderedItems.Select(item => item.Element).ToList();
        names.Sort(order);
        return [.. names.Select(found => found.Path)];
    }

    private Found FoundAt(ref FileSystemEntry entry)
    {
        var below = entry.Directory[entry.RootDirectory.Length..].TrimStart(Path.DirectorySeparatorChar);
        var name = entry.FileName.ToString();
        return new Found(
            below.Length == 0 ? name : Path.Combine(below.ToString(), name),
            config.Order == FileOrder.Time ? entry.LastWriteTimeUtc : default
        );
    }

    private static int Compare(Found left, Found right)
    {
        var byTime = left.Time.CompareTo(right.Time);
        return byTime != 0 ? byTime : string.CompareOrdinal(left.Path, right.Path);
    }

    private bool IsWanted(ref FileSystemEntry entry)
    {
        var name = entry.FileName;
        if (
            name[0] == '.'
            || name.EndsWith(".tmp", StringComparison.OrdinalIgnoreCase)
            || name.EndsWith(FinalName.Unfinished, StringComparison.OrdinalIgnoreCase)
        )
            return false;
        if (!NamePatterns.Matches(config.Pattern, name))
            return false;
        if (entry.IsDirectory)
            return !config.Recursive && !IsOurs(entry.ToFullPath());
        return _ready is null || IsReady(name.ToString(), entry.Directory.ToString());
    }

    private bool IsReady(string name, string folder) =>
        _ready!.FileOf(name) is null && File.Exists(Path.Combine(folder, _ready.TriggerOf(name)));

    private bool IsOurs(string folder) => folder == config.DoneFolder || folder == config.ErrorFolder;

    [LoggerMessage(
        EventId = 2210,
        Level = LogLevel.Warning,
        Message = "{Code}: {Endpoint} passes over '{File}', which is no plain file; this is said once"
    )]
    private partial void LogSkipped(string code, string endpoint, string file);

    [LoggerMessage(EventId = 2211, Level = LogLevel.Debug, Message = "{Endpoint} found '{File}' gone again")]
    private partial void LogGone(string endpoint, string file);

    private sealed record Found(string Path, DateTimeOffset Time);

    /// <summary>The observed state of a file.</summary>
    private sealed record Seen(long Length, DateTime LastWrite, long Since)
    {
        public bool IsAvoided { get; init; }

        public bool IsSameAs(Seen other) => Length == other.Length && LastWrite == other.LastWrite;
    }
}
