using Esb.Content.Lookups;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Content.Transforms;

/// <summary>The maps of a running bus, which follow their files.</summary>
internal sealed class MapCatalog(MapModels maps, LookupModels lookups, ILogger<LiveMap> logger, ILookupQueries? queries = null)
    : IMapCatalog
{
    private readonly Dictionary<string, LiveMap> _maps = maps.All.ToDictionary(
        map => map.Key,
        map => new LiveMap(map.Value, logger, new MapLookups(lookups, queries))
    );

    public IReadOnlyCollection<LiveMap> All => _maps.Values;

    public IMessageMap? Find(string name) => _maps.GetValueOrDefault(name);
}
