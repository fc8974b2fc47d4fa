namespace Esb.Core.Storage;

/// <summary>Folders that only their owner can access.</summary>
public static class OwnerFolder
{
    /// <summary>Creates a folder, and its parents, with mode 0700; existing folders are unchanged. On Windows, they have the rights of the
    /// parent folder.</summary>
    /// <exception cref="IOException">The folder cannot be created.</exception>
    /// <exception cref="UnauthorizedAccessException">The folder may not be created.</exception>
    public static void Make(string path)
    {
        if (OperatingSystem.IsWindows())
            Directory.CreateDirectory(path);
        else
            Directory.CreateDirectory(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }
}
