namespace Esb.Endpoints.Files;

/// <summary>Compares files.</summary>
internal static class FileBytes
{
    /// <summary>Whether both files exist and hold the same bytes; read in pieces.</summary>
    public static bool AreSame(string left, string right)
    {
        try
        {
            using var first = File.OpenRead(left);
            using var second = File.OpenRead(right);
            return first.Length == second.Length && AreSame(first, second);
        }
        catch (FileNotFoundException)
        {
            return false;
        }
    }

    private static bool AreSame(FileStream first, FileStream second)
    {
        var left = new byte[16 * 1024];
        var right = new byte[left.Length];
        int count;
        while ((count = first.ReadAtLeast(left, left.Length, throwOnEndOfStream: false)) > 0)
        {
            if (second.ReadAtLeast(right.AsSpan(0, count), count, throwOnEndOfStream: false) != count) return false;
            if (!left.AsSpan(0, count).SequenceEqual(right.AsSpan(0, count))) return false;
        }

        return true;
    }
}
