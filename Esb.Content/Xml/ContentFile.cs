using System.Xml;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Content.Xml;

/// <summary>A schema or stylesheet named by the configuration. It reports its own errors; paths are shown as the operator wrote
/// them.</summary>
internal sealed class ContentFile(SettingsRecord config, string path, ConfigErrors errors)
{
    private readonly string _folder = config.Origin.Folder ?? Directory.GetCurrentDirectory();

    public string Path => path;

    public string Folder => System.IO.Path.GetDirectoryName(path)!;

    /// <summary>Reader settings for files of the configuration: as for external documents, without a document type declaration.</summary>
    public static XmlReaderSettings ReaderSettings { get; } =
        new()
        {
            DtdProcessing = DtdProcessing.Prohibit,
            XmlResolver = null,
            CloseInput = true,
        };

    /// <summary>True if the file can be used; otherwise the reason is reported.</summary>
    /// <param name="jsonKind">What files in JSON would be, where they cannot be used yet; null where they can.</param>
    public bool IsUsable(string? jsonKind)
    {
        if (!config.IsWhole)
            return false; // reported already
        if (jsonKind is not null && System.IO.Path.GetExtension(path).Equals(".json", StringComparison.OrdinalIgnoreCase))
            Report("ESB-CFG-UNAVAILABLE", $"{jsonKind} are designed, but this version cannot do them yet");
        else if (!File.Exists(path))
            Report("ESB-CFG-NOTFOUND", $"there is no such file in {_folder}");
        else
            return true;
        return false;
    }

    public void Report(string code, string expected) =>
        errors.Add(new ConfigError(code, config.Path, $"\"{Shown(path)}\"", expected, config.Origin));

    /// <summary>Reports a problem inside a file: <c>maps/order.xsl, line 3, column 7: …</c>.</summary>
    public void Report(string code, string? uri, int line, int column, string problem)
    {
        var file = Uri.TryCreate(uri, UriKind.Absolute, out var known) && known.IsFile ? known.LocalPath : path;
        Report(code, line > 0 ? $"{Shown(file)}, line {line}, column {column}: {problem}" : $"{Shown(file)}: {problem}");
    }

    /// <summary>Reports a problem inside a JSON file: <c>schemas/order.json, /properties/id: …</c>.</summary>
    public void Report(string code, string? file, string pointer, string problem) =>
        Report(code, pointer.Length == 0 ? $"{Shown(file ?? path)}: {problem}" : $"{Shown(file ?? path)}, {pointer}: {problem}");

    private string Shown(string file) => System.IO.Path.GetRelativePath(_folder, file);
}
