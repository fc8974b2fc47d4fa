namespace Esb.Content.Schemas.Json;

/// <summary>Types of values, and their names in messages.</summary>
internal static class TypeNames
{
    private const JsonTypes Fractional = JsonTypes.Number & ~JsonTypes.Integer;

    /// <summary>The bit of an integer (also 1.0), or of any other number.</summary>
    public static JsonTypes OfNumber(ReadOnlySpan<byte> number) =>
        !number.ContainsAny((byte)'.', (byte)'e', (byte)'E') || new DecimalText(number).IsInteger ? JsonTypes.Integer : Fractional;

    public static string Problem(JsonTypes wanted)
    {
        var names = new List<string>(6);
        foreach (
            var (type, name) in new[]
            {
                (JsonTypes.Object, "an object"),
                (JsonTypes.Array, "an array"),
                (JsonTypes.String, "a string"),
                (JsonTypes.Number, "a number"),
                (JsonTypes.Integer, "an integer"),
                (JsonTypes.Boolean, "a boolean"),
                (JsonTypes.Null, "null"),
            }
        )
        {
            if ((wanted & type) == type && !(type == JsonTypes.Integer && wanted.HasFlag(JsonTypes.Number)))
                names.Add(name);
        }

        return $"is not {string.Join(" or ", names)}";
    }
}
