namespace Esb.Core.Storage;

/// <summary>Folders that only their owner may look into.</summary>
public static class OwnerFolder
{
    /// <summary>Makes a folder, and those above it, with mode 0700; changes nothing of those that exist. On Windows their rights are those
    /// of the folder above.</summary>
    /// <exception cref="IOException">It cannot be made.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be made.</exception>
    public static void Make(string path)
    {
        if (OperatingSystem.IsWindows()) Directory.CreateDirectory(path);
        else Directory.CreateDirectory(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }
}
