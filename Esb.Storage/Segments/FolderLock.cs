using Esb.Core.Errors;

namespace Esb.Storage.Segments;

/// <summary>Keeps a second host from writing to a folder. Goes with the process, however that ends.</summary>
internal sealed class FolderLock : IDisposable
{
    private readonly FileStream _file;

    private FolderLock(FileStream file) => _file = file;

    /// <exception cref="EsbException"><c>ESB-STORE-INUSE</c>: another process holds it.</exception>
    public static FolderLock Take(string folder)
    {
        Directory.CreateDirectory(folder);
        try
        {
            return new FolderLock(new FileStream(Path.Combine(folder, "lock"), FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None));
        }
        catch (IOException)
        {
            // What the framework says of it would only repeat it.
            throw new EsbException("ESB-STORE-INUSE", $"The folder '{folder}' is in use by another host; give each its own store.folder.", FaultKind.Internal);
        }
    }

    public void Dispose() => _file.Dispose();
}
