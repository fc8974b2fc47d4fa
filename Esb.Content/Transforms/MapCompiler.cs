using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Content.Expressions;
using Esb.Content.Transforms;
using Esb.Content.Xml;
using Esb.Core.Configuration;

namespace Esb.Content.Transforms;

/// <summary>Compiles the section <c>maps</c>, each map once, and reports those that cannot be compiled.</summary>
internal sealed class MapCompiler(
    LimitsConfig limits,
    IReadOnlyDictionary<string, MapConfig> maps,
    ConfigErrors errors,
    XmlInput xml,
    NamespaceModel namespaces,
    TimeProvider time
) : ICompiler<MapModels>
{
    private readonly MapLanguages _languages = new(xml, namespaces.Uris, TransformLimits.From(limits), time);

    public MapModels Compile()
    {
        var compiled = new Dictionary<string, MapModel>();
        foreach (var (name, config) in maps)
        {
            if (Compile(name, config, new ContentFile(config, config.File, errors)) is { } map)
                compiled[name] = map;
        }

        return new MapModels(compiled);
    }

    private MapModel? Compile(string name, MapConfig config, ContentFile file)
    {
        if (!file.IsUsable("JSON maps") || !AreSettingsSound(config))
            return null;
        try
        {
            return _languages.Open(name, file.Path, config.ContentType, config.Limits);
        }
        catch (MapFileException ex)
        {
            file.Report(ex.Code, ex.Uri, ex.Line, ex.Column, ex.Message);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            file.Report(MapLanguages.IsStylesheet(file.Path) ? "ESB-XSL-COMPILE" : "ESB-CFG-MAP", $"cannot be read: {ex.Message}");
        }

        return null;
    }

    private bool AreSettingsSound(MapConfig config)
    {
        if (!MapLanguages.IsStylesheet(config.File))
        {
            if (config.ContentType is null || MapContentType.IsSound(config.ContentType))
                return true;
            errors.Add("ESB-CFG-MAP", config, "contentType", "expected a media type such as text/html; the output is UTF-8");
            return false;
        }

        if (config.ContentType is not null)
            errors.Add("ESB-CFG-MAP", config, "contentType", "a stylesheet says its media type in xsl:output");
        if (config.Limits is not null)
            errors.Add(
                "ESB-CFG-MAP",
                config,
                "limits",
                "only JavaScript modules (.js) and Liquid templates (.liquid) have limits of their own"
            );
        return config.ContentType is null && config.Limits is null;
    }
}
