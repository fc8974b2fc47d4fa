using System.Text.Json;

namespace Esb.Content.Json.Paths;

/// <summary>Selects children of a node (RFC 9535, section 2.3).</summary>
internal abstract class JsonSelector
{
    /// <summary>Passes the selected children to a callback, which returns true to continue.</summary>
    /// <returns>True to continue.</returns>
    public abstract bool Visit(JsonElement node, JsonScope scope, Func<JsonElement, bool> take);

    /// <summary>The selected child, for selectors that select at most one.</summary>
    public virtual JsonElement? Step(JsonElement node) => throw new NotSupportedException();

    public static IEnumerable<JsonElement> Children(JsonElement node) =>
        node.ValueKind switch
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

    public override bool Visit(JsonElement node, JsonScope scope, Func<JsonElement, bool> take) =>
        Step(node) is not { } child || take(child);
}

/// <summary><c>[0]</c>, <c>[-1]</c>: the latter counts from the end.</summary>
internal sealed class IndexSelector(long index) : JsonSelector
{
    public long Index => index;

    public override JsonElement? Step(JsonElement node)
    {
        if (node.ValueKind != JsonValueKind.Array)
            return null;
        var length = node.GetArrayLength();
        var position = index < 0 ? index + length : index;
        return position >= 0 && position < length ? node[(int)position] : null;
    }

    public override bool Visit(JsonElement node, JsonScope scope, Func<JsonElement, bool> take) =>
        Step(node) is not { } child || take(child);
}

/// <summary><c>[*]</c>, <c>.*</c>.</summary>
internal sealed class WildcardSelector : JsonSelector
{
    public override bool Visit(JsonElement node, JsonScope scope, Func<JsonElement, bool> take)
    {
        foreach (var child in Children(node))
        {
            scope.Count();
            if (!take(child))
                return false;
        }

        return true;
    }
}

/// <summary><c>[start:end:step]</c> (section 2.3.4.2).</summary>
internal sealed class SliceSelector(long? start, long? end, long? step) : JsonSelector
{
    public override bool Visit(JsonElement node, JsonScope scope, Func<JsonElement, bool> take)
    {
        foreach (var child in Chosen(node, scope))
        {
            if (!take(child))
                return false;
        }

        return true;
    }

    // A single pass: finding an element by its index starts at the first element each time.
    private IEnumerable<JsonElement> Chosen(JsonElement node, JsonScope scope)
    {
        var stride = step ?? 1;
        if (node.ValueKind != JsonValueKind.Array || stride == 0)
            return [];
        var length = node.GetArrayLength();
        return stride > 0
            ? Between(FromStart(start ?? 0, length), FromStart(end ?? length, length)).Where((_, i) => i % stride == 0)
            : Between((end is { } bound ? FromStart(bound, length) : -1) + 1, FromStart(start ?? length - 1, length) + 1)
                .Reverse()
                .Where((_, i) => i % -stride == 0);

        IEnumerable<JsonElement> Between(long first, long behind) =>
            Counted(node, scope).Take((int)Math.Clamp(behind, 0, length)).Skip((int)Math.Clamp(first, 0, length));
    }

    private static IEnumerable<JsonElement> Counted(JsonElement array, JsonScope scope)
    {
        foreach (var element in array.EnumerateArray())
        {
            scope.Count();
            yield return element;
        }
    }

    private static long FromStart(long position, int length) => position < 0 ? position + length : position;
}

/// <summary><c>[?@.a == 'x']</c>: the children for which a test holds.</summary>
internal sealed class FilterSelector(JsonTest test) : JsonSelector
{
    public JsonTest Test => test;

    public override bool Visit(JsonElement node, JsonScope scope, Func<JsonElement, bool> take)
    {
        foreach (var child in Children(node))
        {
            scope.Count();
            if (test.Holds(child, scope) && !take(child))
                return false;
        }

        return true;
    }
}
