using Esb.Core.Storage;

namespace Esb.Endpoints.Files;

/// <summary>Gives complete files their names: nobody ever sees half a file under one, and a file that has the name already is never lost.</summary>
internal static class FinalName
{
    /// <summary>The ending of files that are not complete yet; file-inbound passes them over.</summary>
    public const string Unfinished = ".part";

    /// <summary>A name that no other file of the folder has, hidden from patterns such as <c>*.xml</c>.</summary>
    public static string Temporary(string folder) => Path.Combine(folder, $".{Guid.NewGuid():N}{Unfinished}");

    /// <summary>Gives a file another name on the same volume, unless that is taken: false then, and nothing has changed.</summary>
    /// <remarks>
    /// <c>File.Move</c> looks first and renames then, so that two at once both succeed and one file is lost. <c>renameat2</c> decides in one call.
    /// Where it is missing, <c>link</c> does; a crash behind it leaves the file under both names. Where the file system has no links, or does not
    /// allow them for files of others, looking first is the best there is.
    /// </remarks>
    public static bool TryTake(string source, string target)
    {
        if (!OperatingSystem.IsWindows())
        {
            if (Posix.TryRename(source, target, out var error)) return true;
            if (error is not (Posix.Exists or Posix.OtherVolume) && Posix.TryLink(source, target, out error))
            {
                File.Delete(source);
                return true;
            }

            if (error == Posix.Exists) return false;
            if (error == Posix.OtherVolume) return TryTakeCopy(source, target);
        }

        if (Path.Exists(target)) return false;
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

    /// <summary>Makes a name survive a loss of power. Windows does so by itself.</summary>
    public static void Keep(string file)
    {
        DurableFolder.Flush(Path.GetDirectoryName(file)!);
    }

    // The copy is complete and on disk before it has the name, and only then the original goes.
    private static bool TryTakeCopy(string source, string target)
    {
        var copy = Temporary(Path.GetDirectoryName(target)!);
        try
        {
            File.Copy(source, copy);
            using (var file = new FileStream(copy, FileMode.Open, FileAccess.Write)) file.Flush(flushToDisk: true);
            if (!TryTake(copy, target)) return false;
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
