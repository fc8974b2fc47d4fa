using System.Text.Json;

namespace Esb.Content.Json.Paths;

/// <summary>A compiled JSONPath (RFC 9535). Immutable and thread-safe.</summary>
/// <param name="segments">Its steps.</param>
/// <param name="readsRoot">Whether a filter looks at the whole document (<c>$</c> within it).</param>
internal sealed class JsonPath(IReadOnlyList<JsonSegment> segments, bool readsRoot = false)
{
    public IReadOnlyList<JsonSegment> Segments => segments;

    public bool ReadsRoot => readsRoot;

    /// <summary>Whether it selects one node at most, whatever the document (section 2.3.5.1).</summary>
    public bool IsSingular { get; } = segments.All(segment => segment.IsSingular);

    /// <summary>Parses a path that begins with <c>$</c>.</summary>
    /// <exception cref="JsonPathException">It is none.</exception>
    public static JsonPath Parse(string text) => new JsonPathParser(text).Parse();

    /// <summary>The first node selected; null where none is.</summary>
    public JsonElement? First(JsonElement start, JsonElement root)
    {
        if (!IsSingular) return Select(start, root) is [var first, ..] ? first : null;
        JsonElement? node = start;
        foreach (var segment in segments)
        {
            node = segment.Step(node.Value);
            if (node is null) return null;
        }

        return node;
    }

    /// <summary>All nodes selected, in the order of the document wherever RFC 9535 orders them.</summary>
    public List<JsonElement> Select(JsonElement start, JsonElement root)
    {
        List<JsonElement> nodes = [start];
        foreach (var segment in segments)
        {
            var next = new List<JsonElement>();
            foreach (var node in nodes) segment.Select(node, root, next);
            nodes = next;
        }

        return nodes;
    }
}

/// <summary>A step of a path: selectors over the children of a node, or over those of all its descendants too.</summary>
internal sealed class JsonSegment(bool descends, IReadOnlyList<JsonSelector> selectors)
{
    public bool IsSingular => !descends && selectors is [NameSelector or IndexSelector];

    /// <summary>The only selector of a step to the children of a node; null where there are several, or where it descends.</summary>
    public JsonSelector? Only => !descends && selectors is [var only] ? only : null;

    public JsonElement? Step(JsonElement node) => selectors[0].Step(node);

    public void Select(JsonElement node, JsonElement root, List<JsonElement> selected)
    {
        foreach (var selector in selectors) selector.Select(node, root, selected);
        if (!descends) return;
        foreach (var child in JsonSelector.Children(node)) Select(child, root, selected); // the intake bounds the depth
    }
}

/// <summary>A text that is no JSONPath.</summary>
internal sealed class JsonPathException(string message) : Exception(message);
