using Esb.Content.Transforms.Documents;
using Esb.Content.Transforms.Liquid;
using Esb.Content.Transforms.Scripts;
using Esb.Content.Xml;

namespace Esb.Content.Transforms;

/// <summary>Compiles maps in the language that the ending of their file names; XSLT by default.</summary>
internal sealed class MapLanguages(XmlInput xml, IReadOnlyDictionary<string, string> namespaces, TransformLimits limits, TimeProvider time)
{
    private readonly DocumentInput _documents = new(xml, namespaces);

    /// <summary>True if the file is a stylesheet, whose output and limits are not settings of the map.</summary>
    public static bool IsStylesheet(string path) => ExtensionOf(path) is not (".js" or ".mjs" or ".liquid");

    /// <summary>Reads and compiles a map.</summary>
    /// <exception cref="MapFileException">It has an error.</exception>
    /// <exception cref="IOException">It cannot be read.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be read.</exception>
    public MapModel Open(string name, string path, string? contentType = null, MapLimitsConfig? runLimits = null)
    {
        var settings = new MapSettings(name, new MapContentType(contentType), runLimits ?? new MapLimitsConfig(), limits.OutputBytes);
        return ExtensionOf(path) switch
        {
            ".js" or ".mjs" => MapModel.Create(path, MapText.Read, file => new ScriptMap(settings, file, _documents, time)),
            ".liquid" => MapModel.Create(path, MapText.Read, file => new LiquidMap(settings, file, _documents, time)),
            _ => MapModel.Create(path, StylesheetFiles.Read, files => new XsltMap(name, files, StylesheetCache.Shared, xml, limits, time)),
        };
    }

    private static string ExtensionOf(string path) => Path.GetExtension(path).ToLowerInvariant();
}
