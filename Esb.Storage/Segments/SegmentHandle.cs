using Esb.Core.Storage;
using Microsoft.Win32.SafeHandles;

namespace Esb.Storage.Segments;

/// <summary>Opens segments so that one process writes while others read.</summary>
internal static class SegmentHandle
{
    private const FileShare Shared = FileShare.ReadWrite | FileShare.Delete;

    public static SafeFileHandle OpenForWriting(SegmentFile segment) => OwnerFile.OpenHandle(segment.Path, Shared);

    /// <summary>Null where the segment does not exist any more.</summary>
    public static SafeFileHandle? TryOpenForReading(SegmentFile segment)
    {
        try
        {
            return File.OpenHandle(segment.Path, FileMode.Open, FileAccess.Read, Shared);
        }
        catch (Exception ex) when (ex is FileNotFoundException or DirectoryNotFoundException)
        {
            return null;
        }
    }
}
