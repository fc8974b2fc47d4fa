using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Content.Transforms;
using Esb.Content.Xml;
using Esb.Core.Configuration;

namespace Esb.Content.Transforms;

/// <summary>Compiles the section <c>maps</c>, each map once, and reports those that cannot be compiled.</summary>
internal sealed class MapCompiler(LimitsConfig limits, IReadOnlyDictionary<string, MapConfig> maps, ConfigErrors errors, XmlInput xml, TimeProvider time) : ICompiler<MapModels>
{
    private readonly TransformLimits _limits = TransformLimits.From(limits);

    public MapModels Compile()
    {
        var compiled = new Dictionary<string, MapModel>();
        foreach (var (name, config) in maps)
        {
            if (Compile(name, new ContentFile(config, config.File, errors)) is { } map) compiled[name] = map;
        }

        return new MapModels(compiled);
    }

    private MapModel? Compile(string name, ContentFile file)
    {
        if (!file.IsUsable("JSON maps")) return null;
        try
        {
            var files = StylesheetFiles.Read(file.Path);
            return new MapModel(file.Path, files, Compile(name, files), changed => Compile(name, changed));
        }
        catch (StylesheetException ex)
        {
            file.Report(ex.Code, ex.Uri, ex.Line, ex.Column, ex.Message);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            file.Report("ESB-XSL-COMPILE", $"cannot be read: {ex.Message}");
        }

        return null;
    }

    private XsltMap Compile(string name, StylesheetFiles files) => new(name, files, StylesheetCache.Shared, xml, _limits, time);
}
