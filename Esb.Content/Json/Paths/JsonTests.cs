using System.Text.Json;

namespace Esb.Content.Json.Paths;

/// <summary>A logical expression inside a filter (RFC 9535, section 2.3.5).</summary>
internal abstract class JsonTest
{
    public abstract bool Holds(JsonElement current, JsonElement root);
}

internal sealed class AnyTest(IReadOnlyList<JsonTest> tests) : JsonTest
{
    public override bool Holds(JsonElement current, JsonElement root) => tests.Any(test => test.Holds(current, root));
}

internal sealed class AllTest(IReadOnlyList<JsonTest> tests) : JsonTest
{
    public override bool Holds(JsonElement current, JsonElement root) => tests.All(test => test.Holds(current, root));
}

internal sealed class NotTest(JsonTest test) : JsonTest
{
    public override bool Holds(JsonElement current, JsonElement root) => !test.Holds(current, root);
}

/// <summary>Whether a query selects anything.</summary>
internal sealed class ExistenceTest(JsonQuery query) : JsonTest
{
    public override bool Holds(JsonElement current, JsonElement root) => query.First(current, root) is not null;
}

/// <summary>A comparison of two values, either of which may be nothing (section 2.3.5.2.2).</summary>
internal sealed class ComparisonTest(JsonComparable left, string sign, JsonComparable right) : JsonTest
{
    public override bool Holds(JsonElement current, JsonElement root)
    {
        var (a, b) = (left.Value(current, root), right.Value(current, root));
        return sign switch
        {
            "==" => AreEqual(a, b),
            "!=" => !AreEqual(a, b),
            "<" => IsLess(a, b),
            "<=" => IsLess(a, b) || AreEqual(a, b),
            ">" => IsLess(b, a),
            _ => IsLess(b, a) || AreEqual(a, b),
        };
    }

    private static bool AreEqual(JsonElement? left, JsonElement? right) =>
        left is { } a && right is { } b ? JsonElement.DeepEquals(a, b) : left is null && right is null;

    private static bool IsLess(JsonElement? left, JsonElement? right) => (left, right) switch
    {
        ({ ValueKind: JsonValueKind.Number } a, { ValueKind: JsonValueKind.Number } b) => a.GetDouble() < b.GetDouble(),
        ({ ValueKind: JsonValueKind.String } a, { ValueKind: JsonValueKind.String } b) => string.CompareOrdinal(a.GetString(), b.GetString()) < 0,
        _ => false,
    };
}

/// <summary>A query inside a filter: from the current node (<c>@</c>) or from the root (<c>$</c>).</summary>
internal sealed class JsonQuery(JsonPath path, bool fromRoot)
{
    public bool IsSingular => path.IsSingular;

    public JsonElement? First(JsonElement current, JsonElement root) => path.First(fromRoot ? root : current, root);

    public List<JsonElement> Select(JsonElement current, JsonElement root) => path.Select(fromRoot ? root : current, root);
}
