using System.Text.Json;

namespace Esb.Content.Json.Paths;

/// <summary>A logical expression inside a filter (RFC 9535, section 2.3.5).</summary>
internal abstract class JsonTest
{
    public abstract bool Holds(JsonElement current, JsonScope scope);
}

internal sealed class AnyTest(IReadOnlyList<JsonTest> tests) : JsonTest
{
    public override bool Holds(JsonElement current, JsonScope scope) => tests.Any(test => test.Holds(current, scope));
}

internal sealed class AllTest(IReadOnlyList<JsonTest> tests) : JsonTest
{
    public override bool Holds(JsonElement current, JsonScope scope) => tests.All(test => test.Holds(current, scope));
}

internal sealed class NotTest(JsonTest test) : JsonTest
{
    public override bool Holds(JsonElement current, JsonScope scope) => !test.Holds(current, scope);
}

/// <summary>A test that a query selects at least one node.</summary>
internal sealed class ExistenceTest(JsonQuery query) : JsonTest
{
    public override bool Holds(JsonElement current, JsonScope scope) => query.First(current, scope) is not null;
}

/// <summary>A comparison of two values; either may be absent (section 2.3.5.2.2).</summary>
internal sealed class ComparisonTest(JsonComparable left, string sign, JsonComparable right) : JsonTest
{
    public override bool Holds(JsonElement current, JsonScope scope)
    {
        var (a, b) = (left.Value(current, scope), right.Value(current, scope));
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
        left is { } a && right is { } b ? AreSame(a, b) : left is null && right is null;

    private static bool AreSame(JsonElement a, JsonElement b)
    {
        try
        {
            return JsonElement.DeepEquals(a, b);
        }
        catch (ArgumentOutOfRangeException)
        {
            return a.GetRawText() == b.GetRawText(); // a number with an exponent of more than 32 bits
        }
    }

    private static bool IsLess(JsonElement? left, JsonElement? right) =>
        (left, right) switch
        {
            ({ ValueKind: JsonValueKind.Number } a, { ValueKind: JsonValueKind.Number } b) => a.GetDouble() < b.GetDouble(),
            ({ ValueKind: JsonValueKind.String } a, { ValueKind: JsonValueKind.String } b) => string.CompareOrdinal(
                a.GetString(),
                b.GetString()
            ) < 0,
            _ => false,
        };
}

/// <summary>A query inside a filter: from the current node (<c>@</c>) or from the root (<c>$</c>).</summary>
internal sealed class JsonQuery(JsonPath path, bool fromRoot)
{
    public bool IsSingular => path.IsSingular;

    public JsonElement? First(JsonElement current, JsonScope scope) => path.First(fromRoot ? scope.Root : current, scope);

    public List<JsonElement> Select(JsonElement current, JsonScope scope) => path.Select(fromRoot ? scope.Root : current, scope);
}
