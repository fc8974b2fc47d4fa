using System.Runtime.InteropServices;
using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>Keywords for a single value.</summary>
internal sealed partial class TreeValidator
{
    private bool CheckValue(SchemaNode node, JsonElement value)
    {
        var holds = (node.Types & TypeOf(value)) != 0 || Report(value, "type", TypeNames.Problem(node.Types));
        foreach (var allowed in node.Allowed)
        {
            if (!allowed.Contains(value))
                holds &= Report(value, allowed.Keyword, allowed.Problem);
        }

        return value.ValueKind switch
        {
            JsonValueKind.Number => holds & CheckNumber(node, value),
            JsonValueKind.String => holds & CheckText(node, value),
            _ => holds,
        };
    }

    private bool CheckNumber(SchemaNode node, JsonElement value)
    {
        var holds = true;
        var number = new DecimalText(JsonMarshal.GetRawUtf8Value(value));
        foreach (var bound in node.Bounds)
        {
            if (!bound.Holds(number))
                holds &= Report(value, bound.Keyword, bound.Describe());
        }

        if (node.MultipleOf?.Divides(number) == false)
            holds &= Report(value, "multipleOf", $"is not a multiple of {node.MultipleOf.Text}");
        return holds;
    }

    private bool CheckText(SchemaNode node, JsonElement value)
    {
        if (node is { MinLength: 0, MaxLength: long.MaxValue, Pattern: null, Format: null })
            return true;
        var text = value.GetString()!;
        var length = TextLength.Of(text);
        var holds = length >= node.MinLength || Report(value, "minLength", $"is shorter than {node.MinLength} characters");
        if (length > node.MaxLength)
            holds &= Report(value, "maxLength", $"is longer than {node.MaxLength} characters");
        if (node.Pattern?.IsMatch(text) == false)
            holds &= Report(value, "pattern", $"does not match {node.Pattern.Source}");
        if (node.Format?.Accepts(text) == false)
            holds &= Report(value, "format", $"is not in the format {node.Format.Name}");
        return holds;
    }

    private static JsonTypes TypeOf(JsonElement value) =>
        value.ValueKind switch
        {
            JsonValueKind.Object => JsonTypes.Object,
            JsonValueKind.Array => JsonTypes.Array,
            JsonValueKind.String => JsonTypes.String,
            JsonValueKind.Number => TypeNames.OfNumber(JsonMarshal.GetRawUtf8Value(value)),
            JsonValueKind.True or JsonValueKind.False => JsonTypes.Boolean,
            _ => JsonTypes.Null,
        };
}
