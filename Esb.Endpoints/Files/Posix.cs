using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Esb.Endpoints.Files;

/// <summary>POSIX calls that .NET does not offer. All return -1 on failure and set <c>errno</c>.</summary>
internal static class Posix
{
    // A large file on its way to disk.
    private const long Unwritten = 1L << 30;

    public const int Exists = 17; // EEXIST
    public const int OtherVolume = 18; // EXDEV
    public const int NoSpace = 28; // ENOSPC
    public const int QuotaExceededLinux = 122; // EDQUOT

    private const int NotSupported = 38; // ENOSYS
    private const int InvalidArgument = 22; // EINVAL
    private const int Unsupported = 95; // EOPNOTSUPP
    private const int CurrentFolder = -100; // AT_FDCWD
    private const uint NeverReplace = 1; // RENAME_NOREPLACE
    private const int DoNotFollow = 0x100; // AT_SYMLINK_NOFOLLOW
    private const int ModeOffset = 28; // of stx_mode in struct statx, the same on every architecture
    private const int TypeMask = 0xF000; // S_IFMT
    private const int RegularFile = 0x8000; // S_IFREG

    /// <summary>Renames a file in one step, even across a crash; fails with <see cref="Exists"/> if the name is taken.</summary>
    /// <remarks>Available only on Linux, and not with every file system and C library; after any other error, <see cref="TryLink"/> may
    /// succeed.</remarks>
    public static bool TryRename(string source, string target, out int error)
    {
        error = NotSupported;
        if (!OperatingSystem.IsLinux())
            return false;
        try
        {
            return Succeeded(Rename(CurrentFolder, source, CurrentFolder, target, NeverReplace), out error);
        }
        catch (EntryPointNotFoundException)
        {
            return false;
        }
    }

    /// <summary>Gives a file a second name; fails with <see cref="Exists"/> if the name is taken, even if it is taken
    /// concurrently.</summary>
    public static bool TryLink(string existing, string name, out int error) => Succeeded(Link(existing, name), out error);

    /// <summary>True if a name is a plain file: no folder, link, pipe, device or socket. Never opens it, because opening a pipe
    /// blocks.</summary>
    public static bool IsRegularFile(string path)
    {
        if (!OperatingSystem.IsLinux())
            return !File.GetAttributes(path).HasFlag(FileAttributes.ReparsePoint) && File.Exists(path);
        var status = new byte[256];
        if (Statx(CurrentFolder, path, DoNotFollow, mask: 1, status) < 0)
            throw Failure();
        return (BitConverter.ToUInt16(status, ModeOffset) & TypeMask) == RegularFile;
    }

    /// <summary>Copies a part of a file within the kernel, and has it written to the disk from now on.</summary>
    /// <returns>The bytes copied, 0 at the end of the source; null where the kernel cannot copy between these files.</returns>
    /// <exception cref="IOException">The target cannot be written.</exception>
    public static long? CopyRange(SafeFileHandle source, SafeFileHandle target, long offset, long count)
    {
        if (!OperatingSystem.IsLinux())
            return null;
        var (from, to) = (offset, offset);
        try
        {
            var copied = CopyFileRange(source, ref from, target, ref to, (nuint)count, flags: 0);
            if (copied > 0)
                WriteOut(target, offset, copied);
            return copied >= 0 ? copied
                : Marshal.GetLastPInvokeError() is OtherVolume or NotSupported or InvalidArgument or Unsupported ? null
                : throw Failure();
        }
        catch (EntryPointNotFoundException)
        {
            return null;
        }
    }

    // Begins to write a range to disk, and waits for what was written a while ago: a writer that leaves the disk far behind is slowed
    // down by the system to less than the disk can take. Both are hints: the flush at the end decides.
    private static void WriteOut(SafeFileHandle file, long offset, long count)
    {
        const uint Begin = 2; // SYNC_FILE_RANGE_WRITE
        const uint Finish = 1 | Begin | 4; // SYNC_FILE_RANGE_WAIT_BEFORE, _WRITE, _WAIT_AFTER
        _ = SyncFileRange(file, offset, count, Begin);
        if (offset >= Unwritten)
            _ = SyncFileRange(file, offset - Unwritten, count, Finish);
    }

    private static bool Succeeded(int result, out int error)
    {
        error = result < 0 ? Marshal.GetLastPInvokeError() : 0;
        return result >= 0;
    }

    private static IOException Failure()
    {
        var error = Marshal.GetLastPInvokeError();
        var text = Marshal.GetPInvokeErrorMessage(error);
        return error == 2 ? new FileNotFoundException(text) : new IOException(text, error);
    }

    [DllImport("libc", EntryPoint = "renameat2", SetLastError = true)]
    private static extern int Rename(
        int sourceFolder,
        [MarshalAs(UnmanagedType.LPUTF8Str)] string source,
        int targetFolder,
        [MarshalAs(UnmanagedType.LPUTF8Str)] string target,
        uint flags
    );

    [DllImport("libc", EntryPoint = "copy_file_range", SetLastError = true)]
    private static extern nint CopyFileRange(
        SafeFileHandle source,
        ref long sourceOffset,
        SafeFileHandle target,
        ref long targetOffset,
        nuint count,
        uint flags
    );

    [DllImport("libc", EntryPoint = "sync_file_range", SetLastError = true)]
    private static extern int SyncFileRange(SafeFileHandle file, long offset, long count, uint flags);

    [DllImport("libc", EntryPoint = "link", SetLastError = true)]
    private static extern int Link([MarshalAs(UnmanagedType.LPUTF8Str)] string existing, [MarshalAs(UnmanagedType.LPUTF8Str)] string name);

    [DllImport("libc", EntryPoint = "statx", SetLastError = true)]
    private static extern int Statx(int folder, [MarshalAs(UnmanagedType.LPUTF8Str)] string path, int flags, uint mask, byte[] status);
}
