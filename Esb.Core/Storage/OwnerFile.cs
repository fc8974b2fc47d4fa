using Microsoft.Win32.SafeHandles;

namespace Esb.Core.Storage;

/// <summary>Files that only their owner can access: mode 0600. Existing files keep their mode. On Windows, they have the rights of their
/// folder.</summary>
public static class OwnerFile
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Returns why a file cannot hold a secret, as a sentence without its subject; null if only its owner, and its group for
    /// reading, can access it. Links are followed. On Windows always null.</summary>
    public static string? FaultOf(string path)
    {
        if (OperatingSystem.IsWindows())
            return null;
        var file = new FileInfo(path);
        var mode = (file.ResolveLinkTarget(returnFinalTarget: true) ?? file).UnixFileMode;
        if ((mode & (UnixFileMode.OtherRead | UnixFileMode.OtherWrite)) != 0)
            return "can be read or written by everybody; take the right away from others";
        return (mode & UnixFileMode.GroupWrite) != 0 ? "can be written by its group; take the right away from it" : null;
    }

    /// <summary>Opens a file for writing, and creates it if <paramref name="mode"/> says so.</summary>
    /// <param name="path">The file; its folder exists.</param>
    /// <param name="mode">Any mode but <see cref="FileMode.Open"/>.</param>
    /// <param name="access">How it is opened; by default for writing only.</param>
    /// <param name="share">What others may do meanwhile; by default nothing.</param>
    /// <param name="options">Further options, as <see cref="FileOptions.Asynchronous"/>.</param>
    /// <exception cref="IOException">The file cannot be opened.</exception>
    /// <exception cref="UnauthorizedAccessException">The file may not be opened.</exception>
    public static FileStream Open(
        string path,
        FileMode mode,
        FileAccess access = FileAccess.Write,
        FileShare share = FileShare.None,
        FileOptions options = FileOptions.None
    )
    {
        var how = new FileStreamOptions
        {
            Mode = mode,
            Access = access,
            Share = share,
            Options = options,
            BufferSize = 0,
        };
        if (!OperatingSystem.IsWindows())
            how.UnixCreateMode = OwnerOnly;
        return new FileStream(path, how);
    }

    /// <summary>Opens a file for reading and writing at places of one's own, and creates it if it is missing.</summary>
    /// <exception cref="IOException">The file cannot be opened.</exception>
    /// <exception cref="UnauthorizedAccessException">The file may not be opened.</exception>
    public static SafeFileHandle OpenHandle(string path, FileShare share)
    {
        try
        {
            Open(path, FileMode.CreateNew, share: share).Dispose(); // a handle cannot be created with a mode
        }
        catch (IOException) when (File.Exists(path))
        {
            // It is there already, with the mode that it has.
        }

        return File.OpenHandle(path, FileMode.Open, FileAccess.ReadWrite, share);
    }

    /// <summary>Writes a file, and replaces one that exists.</summary>
    /// <exception cref="IOException">The file cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The file may not be written.</exception>
    public static void Write(string path, ReadOnlySpan<byte> bytes)
    {
        using var file = Open(path, FileMode.Create);
        file.Write(bytes);
    }
}
