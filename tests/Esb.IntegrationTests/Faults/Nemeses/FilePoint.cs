namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>A step in the life of a file that can be seen from outside, in the file system.</summary>
internal sealed class FilePoint
{
    private readonly string _folder;
    private readonly Func<string, bool> _matches;
    private readonly bool _comes;

    private FilePoint(string name, string folder, Func<string, bool> matches, bool comes) =>
        (Name, _folder, _matches, _comes) = (name, folder, matches, comes);

    /// <summary>What has just happened.</summary>
    public string Name { get; }

    /// <summary>Something appears in a folder, or below it.</summary>
    public static FilePoint Comes(string name, string folder, Func<string, bool> matches) => new(name, folder, matches, comes: true);

    /// <summary>Something is gone from there.</summary>
    public static FilePoint Goes(string name, string folder, Func<string, bool> matches) => new(name, folder, matches, comes: false);

    /// <summary>Waits for it to happen, the next time but so many.</summary>
    public async Task WaitAsync(int skipped, CancellationToken cancellationToken)
    {
        var seen = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Directory.CreateDirectory(_folder); // the host may not have come so far yet
        using var watcher = new FileSystemWatcher(_folder)
        {
            IncludeSubdirectories = true,
            NotifyFilter = NotifyFilters.FileName | NotifyFilters.DirectoryName,
            InternalBufferSize = 64 * 1024,
        };
        watcher.Created += (_, change) => Look(change.FullPath, isComing: true);
        watcher.Deleted += (_, change) => Look(change.FullPath, isComing: false);
        watcher.Renamed += (_, change) =>
        {
            Look(change.FullPath, isComing: true);
            Look(change.OldFullPath, isComing: false);
        };
        watcher.EnableRaisingEvents = true;
        await seen.Task.WaitAsync(cancellationToken);

        void Look(string path, bool isComing)
        {
            if (isComing == _comes && _matches(path) && Interlocked.Decrement(ref skipped) < 0)
                seen.TrySetResult();
        }
    }
}
