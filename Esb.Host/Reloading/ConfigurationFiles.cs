namespace Esb.Host.Reloading;

/// <summary>What can be seen of the files of a configuration without reading them.</summary>
internal static class ConfigurationFiles
{
    /// <summary>The same while no file was changed, added or removed; empty while they cannot be looked at.</summary>
    public static string StateOf(string path)
    {
        try
        {
            var files = Directory.Exists(path) ? Directory.EnumerateFiles(path, "*.json", SearchOption.AllDirectories) : [path];
            return string.Join('|', files.Order(StringComparer.Ordinal).Select(file => StateOf(new FileInfo(file))));
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return ""; // such as a volume that is just being replaced
        }
    }

    private static string StateOf(FileInfo file) => $"{file.FullName}:{file.LastWriteTimeUtc.Ticks}:{(file.Exists ? file.Length : -1)}";
}
