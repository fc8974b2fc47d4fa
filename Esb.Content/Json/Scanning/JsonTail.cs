using System.Text.Json;
using Esb.Content.Json.Paths;

namespace Esb.Content.Json.Scanning;

/// <summary>The part of a path that a forward pass cannot follow: a filter, and the segments behind it. Evaluated over a small tree of the
/// value at which the pass arrived. Immutable.</summary>
internal sealed class JsonTail(JsonTest? test, JsonPath rest)
{
    private static readonly JsonDocumentOptions Options = new() { MaxDepth = JsonInput.MaxDepth };

    /// <summary>The first node that the path selects at or below a value, which the pass has checked; null if there are none.</summary>
    /// <exception cref="Core.Errors.EsbException">The evaluation takes too long: <c>ESB-JPT-TIMEOUT</c>.</exception>
    public JsonElement? First(ReadOnlySpan<byte> json, JsonTime? time)
    {
        time?.Resume();
        var value = JsonElement.Parse(json, Options);
        var scope = new JsonScope(Root: default, time);
        return test is null || test.Holds(value, scope) ? rest.First(value, scope) : null;
    }
}
