using Esb.Core.Storage;

namespace Esb.Endpoints.Files;

/// <summary>Gives complete files their final names: no reader sees a partial file, and an existing file is never lost.</summary>
internal static class FinalName
{
    /// <summary>The suffix of incomplete files; file-inbound ignores them.</summary>
    public const string Unfinished = ".part";

    // File systems without locks: a writer changes its file all the time.
    private static readonly TimeSpan Untouched = TimeSpan.FromSeconds(2);

    /// <summary>Returns a name that is unique in the folder and hidden from patterns such as <c>*.xml</c>.</summary>
    public static string Temporary(string folder) => Path.Combine(folder, $".{Guid.NewGuid():N}{Unfinished}");

    /// <summary>Deletes the incomplete files that hosts left behind when they ended. What is still being written is locked by its
    /// writer, or has just been changed.</summary>
    /// <exception cref="IOException">The folder cannot be read.</exception>
    public static void DeleteLeft(string folder, DateTimeOffset now)
    {
        foreach (var path in Directory.EnumerateFiles(folder, $".*{Unfinished}"))
        {
            if (!Guid.TryParseExact(Path.GetFileNameWithoutExtension(path).TrimStart('.'), "N", out _))
                continue; // not one of ours
            try
            {
                if (now - File.GetLastWriteTimeUtc(path) < Untouched)
                    continue;
                using var file = new FileStream(path, FileMode.Open, FileAccess.Write, FileShare.None);
                File.Delete(path);
            }
            catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
            {
                // Locked, or gone meanwhile: the next start looks again.
            }
        }
    }

    /// <summary>Renames a file within its volume; returns false and changes nothing if the name is taken.</summary>
    /// <remarks>
    /// <c>File.Move</c> checks first and renames afterwards, so that two concurrent calls both succeed and one file is lost.
    /// <c>renameat2</c> decides in one call. If it is missing, <c>link</c> is used; a crash after it leaves the file under both names. If
    /// the file system has no links, or forbids them for files of other users, checking first is the best option.
    /// </remarks>
    public static bool TryTake(string source, string target)
    {
        if (!OperatingSystem.IsWindows())
        {
            if (Posix.TryRename(source, target, out var error))
                return true;
            if (error is not (Posix.Exists or Posix.OtherVolume) && Posix.TryLink(source, target, out error))
            {
                File.Delete(source);
                return true;
            }

            if (error == Posix.Exists)
                return false;
            if (error == Posix.OtherVolume)
                return TryTakeCopy(source, target);
        }

        if (Path.Exists(target))
            return false;
        try
        {
            File.Move(source, target, overwrite: false);
            return true;
        }
        catch (IOException) when (File.Exists(source) && Path.Exists(target))
        {
            return false;
        }
    }

    /// <summary>Makes a name survive a power loss. Windows does so by itself.</summary>
    public static void Keep(string file)
    {
        DurableFolder.Flush(Path.GetDirectoryName(file)!);
    }

    // The copy is complete and on disk before it gets the name; only then is the original deleted.
    private static bool TryTakeCopy(string source, string target)
    {
        var copy = Temporary(Path.GetDirectoryName(target)!);
        try
        {
            File.Copy(source, copy);
            using (var file = new FileStream(copy, FileMode.Open, FileAccess.Write))
                file.Flush(flushToDisk: true);
            if (!TryTake(copy, target))
                return false;
            Keep(target);
            File.Delete(source);
            return true;
        }
        finally
        {
            File.Delete(copy);
        }
    }
}
