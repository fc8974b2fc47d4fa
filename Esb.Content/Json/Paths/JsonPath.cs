using System.Text.Json;

namespace Esb.Content.Json.Paths;

/// <summary>A compiled JSONPath (RFC 9535). Immutable and thread-safe.</summary>
/// <param name="segments">Its steps.</param>
/// <param name="readsRoot">True if a filter reads the whole document (<c>$</c> within it).</param>
internal sealed class JsonPath(IReadOnlyList<JsonSegment> segments, bool readsRoot = false)
{
    public IReadOnlyList<JsonSegment> Segments => segments;

    public bool ReadsRoot => readsRoot;

    /// <summary>True if it selects at most one node in any document (section 2.3.5.1).</summary>
    public bool IsSingular { get; } = segments.All(segment => segment.IsSingular);

    /// <summary>Parses a path that begins with <c>$</c>.</summary>
    /// <exception cref="JsonPathException">The text is not a JSONPath.</exception>
    public static JsonPath Parse(string text) => new JsonPathParser(text).Parse();

    /// <summary>The first selected node; null if there are none.</summary>
    /// <exception cref="Core.Errors.EsbException">The evaluation takes too long: <c>ESB-JPT-TIMEOUT</c>.</exception>
    public JsonElement? First(JsonElement start, JsonScope scope)
    {
        if (!IsSingular)
            return FirstOfAll(start, scope);
        JsonElement? node = start;
        foreach (var segment in segments)
        {
            node = segment.Step(node.Value);
            if (node is null)
                return null;
        }

        return node;
    }

    /// <summary>All selected nodes, in document order wherever RFC 9535 defines an order.</summary>
    /// <exception cref="Core.Errors.EsbException">The evaluation takes too long: <c>ESB-JPT-TIMEOUT</c>.</exception>
    public List<JsonElement> Select(JsonElement start, JsonScope scope)
    {
        var selected = new List<JsonElement>();
        Visit(
            start,
            scope,
            node =>
            {
                selected.Add(node);
                return true;
            }
        );
        return selected;
    }

    private JsonElement? FirstOfAll(JsonElement start, JsonScope scope)
    {
        JsonElement? first = null;
        Visit(
            start,
            scope,
            node =>
            {
                first = node;
                return false;
            }
        );
        return first;
    }

    // Passes on each node when it is reached, so that evaluation stops as soon as enough nodes are found.
    private void Visit(JsonElement start, JsonScope scope, Func<JsonElement, bool> take) =>
        segments.Reverse().Aggregate(take, (next, segment) => node => segment.Visit(node, scope, next))(start);
}

/// <summary>A step of a path: selectors over the children of a node, or over those of all its descendants too.</summary>
internal sealed class JsonSegment(bool descends, IReadOnlyList<JsonSelector> selectors)
{
    public bool IsSingular => !descends && selectors is [NameSelector or IndexSelector];

    /// <summary>The only selector of a step to the children of a node; null if there are several, or if the step descends.</summary>
    public JsonSelector? Only => !descends && selectors is [var only] ? only : null;

    public JsonElement? Step(JsonElement node) => selectors[0].Step(node);

    /// <summary>Passes the selected nodes to a callback, which returns true to continue.</summary>
    /// <returns>True to continue.</returns>
    public bool Visit(JsonElement node, JsonScope scope, Func<JsonElement, bool> take)
    {
        foreach (var selector in selectors)
        {
            if (!selector.Visit(node, scope, take))
                return false;
        }

        return !descends || VisitBelow(node, scope, take);
    }

    private bool VisitBelow(JsonElement node, JsonScope scope, Func<JsonElement, bool> take)
    {
        foreach (var child in JsonSelector.Children(node))
        {
            scope.Count();
            if (child.ValueKind is JsonValueKind.Object or JsonValueKind.Array && !Visit(child, scope, take))
                return false; // the intake bounds the depth
        }

        return true;
    }
}

/// <summary>The error for a text that is not a JSONPath.</summary>
internal sealed class JsonPathException(string message) : Exception(message);
