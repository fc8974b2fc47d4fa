namespace Esb.Content.Schemas.Json;

/// <summary>What <c>$dynamicRef</c> finds at a place: of each <c>$dynamicAnchor</c> the outermost one among the resources that evaluation
/// has entered. Immutable.</summary>
/// <remarks>A schema is compiled once for each scope in which it is used, so nothing of this is left when a message is validated.</remarks>
internal sealed class DynamicScope
{
    public static readonly DynamicScope Empty = new([]);

    private readonly Dictionary<string, SchemaSite> _anchors;

    private DynamicScope(Dictionary<string, SchemaSite> anchors)
    {
        _anchors = anchors;
        Key = string.Join(' ', anchors.OrderBy(anchor => anchor.Key, StringComparer.Ordinal).Select(anchor => anchor.Value.Number));
    }

    /// <summary>The same for equal scopes.</summary>
    public string Key { get; }

    public SchemaSite? Find(string anchor) => _anchors.GetValueOrDefault(anchor);

    public DynamicScope Enter(SchemaResource resource)
    {
        if (resource.DynamicAnchors.Keys.All(_anchors.ContainsKey))
            return this;
        var anchors = new Dictionary<string, SchemaSite>(_anchors);
        foreach (var (name, site) in resource.DynamicAnchors)
            anchors.TryAdd(name, site);
        return new DynamicScope(anchors);
    }
}
