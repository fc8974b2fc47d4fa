using System.Collections.Frozen;
using System.Text;
using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>The values of <c>enum</c>, or the one of <c>const</c>. Immutable.</summary>
internal sealed class AllowedValues
{
    private readonly FrozenSet<string> _all;
    private readonly byte[][] _texts;
    private readonly byte[][] _numbers;
    private readonly HashSet<JsonTokenType> _others;

    public AllowedValues(string keyword, IReadOnlyList<JsonElement> values)
    {
        Keyword = keyword;
        AreScalar = values.All(value => value.ValueKind is not (JsonValueKind.Object or JsonValueKind.Array));
        _all = values.Select(CanonicalJson.Of).ToFrozenSet();
        _texts =
        [
            .. values.Where(value => value.ValueKind == JsonValueKind.String).Select(value => Encoding.UTF8.GetBytes(value.GetString()!)),
        ];
        _numbers =
        [
            .. values.Where(value => value.ValueKind == JsonValueKind.Number).Select(value => Encoding.ASCII.GetBytes(value.GetRawText())),
        ];
        _others = [.. values.Select(value => value.ValueKind).SelectMany(TokenOf)];
        Types = values.Aggregate((JsonTypes)0, (types, value) => types | TypeOf(value.ValueKind));
        Problem = values.Count == 1 ? "is not the allowed value" : $"is not one of the {values.Count} allowed values";
    }

    public string Keyword { get; }

    /// <summary>True if none is an object or an array.</summary>
    public bool AreScalar { get; }

    public string Problem { get; }

    /// <summary>The types of the values; each number counts as any number.</summary>
    public JsonTypes Types { get; }

    public bool Contains(JsonElement value) => _all.Contains(CanonicalJson.Of(value));

    /// <summary>The same for the text, number, boolean or null at which a reader stands; false for all others.</summary>
    public bool Contains(ref Utf8JsonReader reader)
    {
        switch (reader.TokenType)
        {
            case JsonTokenType.String or JsonTokenType.PropertyName:
                foreach (var text in _texts)
                {
                    if (reader.ValueTextEquals(text))
                        return true;
                }

                return false;
            case JsonTokenType.Number:
                var number = new DecimalText(reader.ValueSpan);
                foreach (var other in _numbers)
                {
                    if (number.CompareTo(new DecimalText(other)) == 0)
                        return true;
                }

                return false;
            default:
                return _others.Contains(reader.TokenType);
        }
    }

    private static JsonTypes TypeOf(JsonValueKind kind) =>
        kind switch
        {
            JsonValueKind.Object => JsonTypes.Object,
            JsonValueKind.Array => JsonTypes.Array,
            JsonValueKind.String => JsonTypes.String,
            JsonValueKind.Number => JsonTypes.Number,
            JsonValueKind.Null => JsonTypes.Null,
            _ => JsonTypes.Boolean,
        };

    private static IEnumerable<JsonTokenType> TokenOf(JsonValueKind kind) =>
        kind switch
        {
            JsonValueKind.True => [JsonTokenType.True],
            JsonValueKind.False => [JsonTokenType.False],
            JsonValueKind.Null => [JsonTokenType.Null],
            _ => [],
        };
}
