namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>A step in the life of a file that can be seen from outside, in the file system.</summary>
/// <param name="Name">What has just happened.</param>
/// <param name="Folder">Where it can be seen, subfolders included.</param>
/// <param name="Change">How it shows.</param>
/// <param name="Matches">Which paths it shows in.</param>
internal sealed record FilePoint(string Name, string Folder, WatcherChangeTypes Change, Func<string, bool> Matches)
{
    /// <summary>Waits for it to happen the next time but so many.</summary>
    public async Task WaitAsync(int skipped, CancellationToken cancellationToken)
    {
        var seen = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var watcher = new FileSystemWatcher(Folder) { IncludeSubdirectories = true, NotifyFilter = NotifyFilters.FileName | NotifyFilters.DirectoryName };
        watcher.Created += Look;
        watcher.Deleted += Look;
        watcher.Renamed += Look;
        watcher.EnableRaisingEvents = true;
        await seen.Task.WaitAsync(cancellationToken);

        void Look(object sender, FileSystemEventArgs change)
        {
            if (change.ChangeType == Change && Matches(change.FullPath) && Interlocked.Decrement(ref skipped) < 0) seen.TrySetResult();
        }
    }
}
