using Esb.Content.Xml;
using Esb.Core;
using Esb.Core.Configuration;
using Microsoft.Extensions.Logging;

namespace Esb.Content.Transforms;

/// <summary>Compiles every map of a configuration once, and reports those that cannot be.</summary>
internal sealed class MapCatalog : IMapCatalog, IConfigurationCheck
{
    private readonly Dictionary<string, LiveMap> _maps = [];
    private readonly ConfigErrors _errors = new();
    private readonly XmlInput _xml;
    private readonly TransformLimits _limits;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;

    public MapCatalog(EsbConfiguration configuration, XmlInput xml, TimeProvider time, ILogger<LiveMap> logger)
    {
        _xml = xml;
        _limits = TransformLimits.From(configuration.Section<LimitsConfig>("limits"));
        _time = time;
        _logger = logger;
        foreach (var (name, config) in configuration.Named<MapConfig>("maps"))
        {
            if (Compile(name, new ContentFile(config, config.File, _errors)) is { } map) _maps[name] = map;
        }
    }

    public IReadOnlyCollection<LiveMap> All => _maps.Values;

    public IMessageMap? Find(string name) => _maps.GetValueOrDefault(name);

    public void Check(ConfigErrors errors)
    {
        errors.AddAll(_errors);
    }

    private LiveMap? Compile(string name, ContentFile file)
    {
        if (!file.IsUsable("JSON maps")) return null;
        try
        {
            return new LiveMap(file.Path, StylesheetFiles.Read(file.Path), files => new XsltMap(name, files, StylesheetCache.Shared, _xml, _limits, _time), _logger);
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
}
