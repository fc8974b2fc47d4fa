using System.Text.Json;
using Esb.Content.Json.Paths;

namespace Esb.Content.Json.Scanning;

/// <summary>What a forward pass cannot follow of a path: a filter, and the segments behind it. They are evaluated over the small tree of the value at which the pass arrived. Immutable.</summary>
internal sealed class JsonTail(JsonTest? test, JsonPath rest)
{
    private static readonly JsonDocumentOptions Options = new() { MaxDepth = JsonInput.MaxDepth };

    /// <summary>The first node that the path selects at or below a value, which the pass has checked; null where there is none.</summary>
    /// <exception cref="Core.Errors.EsbException">That takes too long: <c>ESB-JPT-TIMEOUT</c>.</exception>
    public JsonElement? First(ReadOnlySpan<byte> json, JsonTime? time)
    {
        time?.Resume();
        var value = JsonElement.Parse(json, Options);
        var scope = new JsonScope(Root: default, time);
        return test is null || test.Holds(value, scope) ? rest.First(value, scope) : null;
    }
}
