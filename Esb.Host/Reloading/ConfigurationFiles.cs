namespace Esb.Host.Reloading;

/// <summary>A fingerprint of the files of a configuration, without reading their content.</summary>
internal static class ConfigurationFiles
{
    /// <summary>Unchanged while no file is changed, added or removed; empty if the files are not accessible.</summary>
    public static string StateOf(string path)
    {
        try
        {
            var files = Directory.Exists(path) ? Directory.EnumerateFiles(path, "*.json").Concat(EnvironmentsOf(path)) : [path];
            return string.Join('|', files.Order(StringComparer.Ordinal).Select(file => StateOf(new FileInfo(file))));
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return ""; // for example a volume that is being replaced
        }
    }

    private static IEnumerable<string> EnvironmentsOf(string path)
    {
        var environments = Path.Combine(path, "environments");
        return Directory.Exists(environments) ? Directory.EnumerateFiles(environments, "*.json") : [];
    }

    private static string StateOf(FileInfo file) => $"{file.FullName}:{file.LastWriteTimeUtc.Ticks}:{(file.Exists ? file.Length : -1)}";
}
