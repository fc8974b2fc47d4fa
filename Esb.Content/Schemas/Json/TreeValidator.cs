using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text.Json;
using Esb.Core.Errors;

namespace Esb.Content.Schemas.Json;

/// <summary>Validates a value that is in memory as a tree, for keywords that need it more than once or whole. Used by one thread.</summary>
/// <param name="document">The document that contains the tree, by the same bytes.</param>
/// <param name="trail">The way to the value.</param>
/// <param name="violations">Takes what is wrong.</param>
internal sealed partial class TreeValidator(ReadOnlyMemory<byte> document, PointerTrail trail, IViolationLog violations)
{
    private const int MaxSteps = 10_000_000; // seconds of work: alternatives inside alternatives multiply

    private int _steps;
    private int _silent; // above 0 nothing is reported, and the first violation decides

    private bool IsSilent => _silent > 0;

    /// <exception cref="EsbException"><c>ESB-JSON-SCHEMA</c>: it takes too many steps to decide.</exception>
    /// <exception cref="System.Text.RegularExpressions.RegexMatchTimeoutException">A pattern takes too long.</exception>
    public bool Check(SchemaNode node, JsonElement value) => Check(node, value, outer: null);

    private bool Check(SchemaNode node, JsonElement value, Coverage? outer)
    {
        if (++_steps > MaxSteps || !RuntimeHelpers.TryEnsureSufficientExecutionStack())
            throw new EsbException(
                "ESB-JSON-SCHEMA",
                "The document is too large for its schema, whose alternatives multiply; it cannot be decided in time.",
                FaultKind.Invalid
            );
        if (node.Never is { } keyword)
            return Report(value, keyword, "is not allowed");
        var mine = (outer ?? (object?)node.UnevaluatedProperties ?? node.UnevaluatedItems) is null ? null : Coverage.For(value);
        var holds = CheckValue(node, value);
        if (holds || !IsSilent)
            holds &= CheckInPlace(node, value, mine);
        if (holds || !IsSilent)
            holds &= value.ValueKind switch
            {
                JsonValueKind.Object => CheckMembers(node, value, mine),
                JsonValueKind.Array => CheckItems(node, value, mine),
                _ => true,
            };
        if (!holds)
            return false; // what is unevaluated is known only of a value that holds otherwise
        if (!CheckUnevaluated(node, value, mine))
            return false;
        if (mine is not null)
            outer?.Add(mine);
        return true;
    }

    private bool CheckInPlace(SchemaNode node, JsonElement value, Coverage? mine)
    {
        var holds = true;
        foreach (var child in node.All)
        {
            holds &= Check(child, value, mine);
            if (!holds && IsSilent)
                return false;
        }

        if (node.AnyOf.Count > 0 && CountHolding(node.AnyOf, value, mine, enough: mine is null ? 1 : int.MaxValue) == 0)
            holds &= Report(value, "anyOf", $"passes none of {node.AnyOf.Count} schemas");
        if (node.OneOf.Count > 0)
            holds &= CountHolding(node.OneOf, value, mine, enough: 2) switch
            {
                1 => true,
                0 => Report(value, "oneOf", $"passes none of {node.OneOf.Count} schemas"),
                _ => Report(value, "oneOf", $"passes more than one of {node.OneOf.Count} schemas"),
            };
        if (node.Not is not null && Holds(node.Not, value, covered: null))
            holds &= Report(value, "not", "passes a schema that it must not pass");
        if (node.If is not null)
            holds &= (Holds(node.If, value, mine) ? node.Then : node.Else) is not { } chosen || Check(chosen, value, mine);
        if (value.ValueKind != JsonValueKind.Object)
            return holds;
        foreach (var (name, child) in node.DependentSchemas)
            holds &= !value.TryGetProperty(name, out _) || Check(child, value, mine);
        return holds;
    }

    private int CountHolding(List<SchemaNode> nodes, JsonElement value, Coverage? covered, int enough)
    {
        var count = 0;
        foreach (var child in nodes)
        {
            if (Holds(child, value, covered) && ++count >= enough)
                break;
        }

        return count;
    }

    // Without reports. What it covers counts only if it holds.
    private bool Holds(SchemaNode node, JsonElement value, Coverage? covered)
    {
        _silent++;
        var holds = Check(node, value, covered);
        _silent--;
        return holds;
    }

    private bool CheckMembers(SchemaNode node, JsonElement value, Coverage? mine)
    {
        var count = value.GetPropertyCount();
        var holds = true;
        if (count < node.MinProperties)
            holds &= Report(value, "minProperties", $"has fewer than {node.MinProperties} members");
        if (count > node.MaxProperties)
            holds &= Report(value, "maxProperties", $"has more than {node.MaxProperties} members");
        foreach (var name in node.Required)
            holds &= value.TryGetProperty(name, out _) || Report(value, "required", $"lacks \"{name}\"");
        foreach (var (name, needed) in node.DependentRequired)
        {
            if (value.TryGetProperty(name, out _))
                holds &= needed.All(other =>
                    value.TryGetProperty(other, out _) || Report(value, "dependentRequired", $"has \"{name}\" and lacks \"{other}\"")
                );
        }

        if (!holds && IsSilent)
            return false;
        trail.Push();
        var index = 0;
        foreach (var member in value.EnumerateObject())
        {
            trail.SetName(member.Name);
            holds &= CheckMember(node, member, out var isCovered);
            if (isCovered)
                mine?.Add(index);
            if (!holds && IsSilent)
                break;
            index++;
        }

        trail.Pop();
        return holds;
    }

    private bool CheckMember(SchemaNode node, JsonProperty member, out bool isCovered)
    {
        var holds = true;
        isCovered = node.Properties.TryGetValue(member.Name, out var known);
        if (isCovered)
            holds &= Check(known!, member.Value);
        foreach (var (pattern, child) in node.PatternProperties)
        {
            if (!pattern.IsMatch(member.Name))
                continue;
            isCovered = true;
            holds &= Check(child, member.Value);
        }

        if (!isCovered && node.AdditionalProperties is not null)
        {
            isCovered = true;
            holds &= Check(node.AdditionalProperties, member.Value);
        }

        if (node.PropertyNames is not null && !Holds(node.PropertyNames, JsonSerializer.SerializeToElement(member.Name), covered: null))
            holds &= Report(member.Value, "propertyNames", "has a name that is not allowed");
        return holds;
    }

    private bool CheckItems(SchemaNode node, JsonElement value, Coverage? mine)
    {
        var count = value.GetArrayLength();
        var holds = true;
        if (count < node.MinItems)
            holds &= Report(value, "minItems", $"has fewer than {node.MinItems} items");
        if (count > node.MaxItems)
            holds &= Report(value, "maxItems", $"has more than {node.MaxItems} items");
        if (node.UniqueItems && value.EnumerateArray().Select(CanonicalJson.Of).Distinct().Count() < count)
            holds &= Report(value, "uniqueItems", "has equal items");
        if (!holds && IsSilent)
            return false;
        trail.Push();
        var (index, contained) = (0, 0L);
        foreach (var item in value.EnumerateArray())
        {
            trail.SetIndex(index);
            var schema = index < node.PrefixItems.Count ? node.PrefixItems[index] : node.Items;
            if (schema is not null)
                holds &= Check(schema, item);
            var isContained = node.Contains is not null && Holds(node.Contains, item, covered: null);
            if (isContained)
                contained++;
            if (schema is not null || isContained)
                mine?.Add(index);
            if (!holds && IsSilent)
                break;
            index++;
        }

        trail.Pop();
        return (holds || !IsSilent) && CheckContained(node, value, contained) && holds;
    }

    private bool CheckContained(SchemaNode node, JsonElement value, long count)
    {
        if (node.Contains is null)
            return true;
        if (count < node.MinContains)
            return Report(
                value,
                node.MinContains == 1 ? "contains" : "minContains",
                $"has fewer than {node.MinContains} items of a required kind"
            );
        return count <= node.MaxContains || Report(value, "maxContains", $"has more than {node.MaxContains} items of a limited kind");
    }

    private bool CheckUnevaluated(SchemaNode node, JsonElement value, Coverage? mine)
    {
        var schema = value.ValueKind switch
        {
            JsonValueKind.Object => node.UnevaluatedProperties,
            JsonValueKind.Array => node.UnevaluatedItems,
            _ => null,
        };
        if (schema is null)
            return true;
        var (holds, index) = (true, 0);
        trail.Push();
        if (value.ValueKind == JsonValueKind.Object)
        {
            foreach (var member in value.EnumerateObject())
            {
                trail.SetName(member.Name);
                Take(member.Value);
            }
        }
        else
        {
            foreach (var item in value.EnumerateArray())
            {
                trail.SetIndex(index);
                Take(item);
            }
        }

        trail.Pop();
        return holds;

        void Take(JsonElement below)
        {
            if (!mine!.Has(index))
                holds &= Check(schema, below);
            mine.Add(index++);
        }
    }

    private bool Report(JsonElement value, string keyword, string problem)
    {
        if (IsSilent)
            return false;
        document.Span.Overlaps(JsonMarshal.GetRawUtf8Value(value), out var offset);
        violations.Add(offset, trail.ToString, keyword, problem);
        return false;
    }
}
