using Esb.Core.Configuration;

namespace Esb.Configuration.Reading;

/// <summary>Reads one file of settings.</summary>
internal static class ConfigFile
{
    /// <summary>The object in the file, or null when it could not be read; then errors say why.</summary>
    /// <param name="path">The file.</param>
    /// <param name="errors">Receives every error.</param>
    /// <param name="place">The meaning of its relative paths; null for its own folder.</param>
    public static ConfigNode? Read(string path, ConfigErrors errors, ConfigPlace? place = null)
    {
        if (ReadBytes(path, errors) is not { } bytes)
            return null;
        var source = place is null ? path : Path.GetFileName(path); // its temporary folder means nothing to an operator
        var folder = place?.Folder ?? Path.GetDirectoryName(Path.GetFullPath(path));
        var text = new ConfigText(source, folder, bytes, contents: place?.Contents);
        if (new ConfigJson(text, errors).Read() is not { } root)
            return null;
        if (root.Kind == ConfigKind.Object)
            return root;
        errors.Add("ESB-CFG-TYPE", path, "expected a JSON object", root.Origin);
        return null;
    }

    private static byte[]? ReadBytes(string path, ConfigErrors errors)
    {
        try
        {
            if (new FileInfo(path).Length <= ConfigText.MaxBytes)
                return File.ReadAllBytes(path);
            errors.Add("ESB-CFG-TOOBIG", path, $"expected at most {new ByteSize(ConfigText.MaxBytes)}");
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            errors.Add("ESB-CFG-UNREADABLE", path, $"cannot be read: {ex.Message}");
        }

        return null;
    }
}
