using System.Runtime.InteropServices;

namespace Esb.Core.Storage;

/// <summary>Makes the names in a folder survive a power loss: a flushed file can still be lost with its name. Thread-safe.</summary>
public static class DurableFolder
{
    /// <summary>Flushes the folder's names to disk; does nothing on Windows, which stores them by itself.</summary>
    /// <exception cref="IOException">The folder cannot be opened or flushed.</exception>
    public static void Flush(string folder)
    {
        if (OperatingSystem.IsWindows())
            return;
        var descriptor = Open(folder, flags: 0);
        if (descriptor < 0)
            throw Failure();
        try
        {
            if (Fsync(descriptor) < 0)
                throw Failure();
        }
        finally
        {
            _ = Close(descriptor);
        }
    }

    private static IOException Failure()
    {
        var error = Marshal.GetLastPInvokeError();
        return new IOException(Marshal.GetPInvokeErrorMessage(error), error);
    }

    [DllImport("libc", EntryPoint = "open", SetLastError = true)]
    private static extern int Open([MarshalAs(UnmanagedType.LPUTF8Str)] string path, int flags);

    [DllImport("libc", EntryPoint = "fsync", SetLastError = true)]
    private static extern int Fsync(int descriptor);

    [DllImport("libc", EntryPoint = "close", SetLastError = true)]
    private static extern int Close(int descriptor);
}
