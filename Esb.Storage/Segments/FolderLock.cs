using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Storage.Segments;

/// <summary>Keeps a second host from writing to a folder. Goes with the process, however that ends.</summary>
internal sealed class FolderLock : IDisposable
{
    private const int WouldBlock = 11; // EWOULDBLOCK
    private const int WindowsSharingViolation = unchecked((int)0x80070020);

    private readonly FileStream _file;

    private FolderLock(FileStream file) => _file = file;

    /// <exception cref="EsbException"><c>ESB-STORE-INUSE</c>: another process holds it. <c>ESB-STORE-FOLDER</c>: it cannot be made or
    /// written.</exception>
    public static FolderLock Take(string folder)
    {
        try
        {
            OwnerFolder.Make(folder);
            return new FolderLock(OwnerFile.Open(Path.Combine(folder, "lock"), FileMode.OpenOrCreate, FileAccess.ReadWrite));
        }
        catch (IOException ex) when (ex.HResult is WouldBlock or WindowsSharingViolation)
        {
            // What the framework says of it would only repeat it.
            throw new EsbException(
                "ESB-STORE-INUSE",
                $"The folder '{folder}' is in use by another host; give each its own store.folder.",
                FaultKind.Internal
            );
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            throw new EsbException("ESB-STORE-FOLDER", $"The folder '{folder}' cannot be written: {ex.Message}", FaultKind.Internal);
        }
    }

    public void Dispose() => _file.Dispose();
}
