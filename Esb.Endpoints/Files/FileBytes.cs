namespace Esb.Endpoints.Files;

/// <summary>Compares files.</summary>
internal static class FileBytes
{
    /// <summary>True if an own file and another one hold equal bytes; reads them in pieces. A missing or unreadable file is not
    /// equal.</summary>
    public static bool AreSame(string own, string other)
    {
        using var first = File.OpenRead(own);
        using var second = TryOpen(other);
        return second is not null && first.Length == second.Length && AreSame(first, second);
    }

    private static FileStream? TryOpen(string path)
    {
        try
        {
            return File.OpenRead(path);
        }
        catch (Exception ex) when (ex is FileNotFoundException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private static bool AreSame(FileStream first, FileStream second)
    {
        var left = new byte[16 * 1024];
        var right = new byte[left.Length];
        int count;
        while ((count = first.ReadAtLeast(left, left.Length, throwOnEndOfStream: false)) > 0)
        {
            if (second.ReadAtLeast(right.AsSpan(0, count), count, throwOnEndOfStream: false) != count)
                return false;
            if (!left.AsSpan(0, count).SequenceEqual(right.AsSpan(0, count)))
                return false;
        }

        return true;
    }
}
