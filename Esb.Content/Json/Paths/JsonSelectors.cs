using System.Text.Json;

namespace Esb.Content.Json.Paths;

/// <summary>Chooses children of a node (RFC 9535, section 2.3).</summary>
internal abstract class JsonSelector
{
    public abstract void Select(JsonElement node, JsonElement root, List<JsonElement> selected);

    /// <summary>The one child chosen, of selectors that choose one at most.</summary>
    public virtual JsonElement? Step(JsonElement node) => throw new NotSupportedException();

    public static IEnumerable<JsonElement> Children(JsonElement node) => node.ValueKind switch
    {
        JsonValueKind.Array => node.EnumerateArray(),
        JsonValueKind.Object => node.EnumerateObject().Select(property => property.Value),
        _ => [],
    };
}

/// <summary><c>['name']</c>, <c>.name</c>.</summary>
internal sealed class NameSelector(string name) : JsonSelector
{
    public string Name => name;

    public override JsonElement? Step(JsonElement node) =>
        node.ValueKind == JsonValueKind.Object && node.TryGetProperty(name, out var child) ? child : null;

    public override void Select(JsonElement node, JsonElement root, List<JsonElement> selected)
    {
        if (Step(node) is { } child) selected.Add(child);
    }
}

/// <summary><c>[0]</c>, <c>[-1]</c>: the latter counts from the end.</summary>
internal sealed class IndexSelector(long index) : JsonSelector
{
    public long Index => index;

    public override JsonElement? Step(JsonElement node)
    {
        if (node.ValueKind != JsonValueKind.Array) return null;
        var length = node.GetArrayLength();
        var position = index < 0 ? index + length : index;
        return position >= 0 && position < length ? node[(int)position] : null;
    }

    public override void Select(JsonElement node, JsonElement root, List<JsonElement> selected)
    {
        if (Step(node) is { } child) selected.Add(child);
    }
}

/// <summary><c>[*]</c>, <c>.*</c>.</summary>
internal sealed class WildcardSelector : JsonSelector
{
    public override void Select(JsonElement node, JsonElement root, List<JsonElement> selected) => selected.AddRange(Children(node));
}

/// <summary><c>[start:end:step]</c> (section 2.3.4.2).</summary>
internal sealed class SliceSelector(long? start, long? end, long? step) : JsonSelector
{
    public override void Select(JsonElement node, JsonElement root, List<JsonElement> selected)
    {
        var stride = step ?? 1;
        if (node.ValueKind != JsonValueKind.Array || stride == 0) return;
        var length = node.GetArrayLength();
        if (stride > 0)
        {
            var upper = Math.Clamp(FromStart(end ?? length, length), 0, length);
            for (var i = Math.Clamp(FromStart(start ?? 0, length), 0, length); i < upper; i += stride) selected.Add(node[(int)i]);
        }
        else
        {
            var lower = Math.Clamp(end is { } bound ? FromStart(bound, length) : -1, -1, length - 1);
            for (var i = Math.Clamp(FromStart(start ?? length - 1, length), -1, length - 1); i > lower; i += stride) selected.Add(node[(int)i]);
        }
    }

    private static long FromStart(long position, int length) => position < 0 ? position + length : position;
}

/// <summary><c>[?@.a == 'x']</c>: the children for which a test holds.</summary>
internal sealed class FilterSelector(JsonTest test) : JsonSelector
{
    public JsonTest Test => test;

    public override void Select(JsonElement node, JsonElement root, List<JsonElement> selected)
    {
        foreach (var child in Children(node))
        {
            if (test.Holds(child, root)) selected.Add(child);
        }
    }
}
