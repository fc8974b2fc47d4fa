namespace Esb.Content.Schemas.Json;

/// <summary>The types of JSON Schema.</summary>
[Flags]
internal enum JsonTypes
{
    Null = 1,
    Boolean = 2,
    Object = 4,
    Array = 8,
    String = 16,
    Integer = 32,
    Number = 64 | Integer,
    Any = Null | Boolean | Object | Array | String | Number,
}

/// <summary>A compiled schema at one place, for one dynamic scope. Immutable once its schema is compiled; thread-safe.</summary>
internal sealed class SchemaNode(int number)
{
    /// <summary>Different for every node of a compilation.</summary>
    public int Number => number;

    /// <summary>The keyword whose schema is <c>false</c>; null for any other schema.</summary>
    public string? Never { get; set; }

    public JsonTypes Types { get; set; } = JsonTypes.Any;

    /// <summary>The values of <c>enum</c> and of <c>const</c>; each list has to hold the value.</summary>
    public List<AllowedValues> Allowed { get; } = [];

    public List<NumberBound> Bounds { get; } = [];

    public Divisor? MultipleOf { get; set; }

    public long MinLength { get; set; }

    public long MaxLength { get; set; } = long.MaxValue;

    public EcmaPattern? Pattern { get; set; }

    /// <summary>The format to assert; null where it only annotates.</summary>
    public TextFormat? Format { get; set; }

    public Dictionary<string, SchemaNode> Properties { get; } = [];

    public List<(EcmaPattern Pattern, SchemaNode Node)> PatternProperties { get; } = [];

    public SchemaNode? AdditionalProperties { get; set; }

    public SchemaNode? PropertyNames { get; set; }

    public List<string> Required { get; } = [];

    public Dictionary<string, string[]> DependentRequired { get; } = [];

    public Dictionary<string, SchemaNode> DependentSchemas { get; } = [];

    public long MinProperties { get; set; }

    public long MaxProperties { get; set; } = long.MaxValue;

    public List<SchemaNode> PrefixItems { get; } = [];

    public SchemaNode? Items { get; set; }

    public SchemaNode? Contains { get; set; }

    public long MinContains { get; set; } = 1;

    public long MaxContains { get; set; } = long.MaxValue;

    public long MinItems { get; set; }

    public long MaxItems { get; set; } = long.MaxValue;

    public bool UniqueItems { get; set; }

    /// <summary>Schemas for the same value, which must all hold: <c>$ref</c>, <c>$dynamicRef</c>, <c>allOf</c>.</summary>
    public List<SchemaNode> All { get; } = [];

    public List<SchemaNode> AnyOf { get; } = [];

    public List<SchemaNode> OneOf { get; } = [];

    public SchemaNode? Not { get; set; }

    public SchemaNode? If { get; set; }

    public SchemaNode? Then { get; set; }

    public SchemaNode? Else { get; set; }

    public SchemaNode? UnevaluatedProperties { get; set; }

    public SchemaNode? UnevaluatedItems { get; set; }

    /// <summary>Schemas for the same value.</summary>
    public IEnumerable<SchemaNode> InPlace =>
        new[] { Not, If, Then, Else }.OfType<SchemaNode>().Concat(All).Concat(AnyOf).Concat(OneOf).Concat(DependentSchemas.Values);

    /// <summary>Schemas for members, their names, and items.</summary>
    public IEnumerable<SchemaNode> Below =>
        new[] { AdditionalProperties, PropertyNames, Items, Contains, UnevaluatedProperties, UnevaluatedItems }
            .OfType<SchemaNode>()
            .Concat(Properties.Values)
            .Concat(PatternProperties.Select(entry => entry.Node))
            .Concat(PrefixItems);

    /// <summary>True if it can be decided while the value is read; false if the value is needed more than once, or whole.</summary>
    public bool IsForwardOnly =>
        AnyOf.Count == 0
        && OneOf.Count == 0
        && DependentSchemas.Count == 0
        && !UniqueItems
        && (Not ?? If ?? Contains ?? UnevaluatedProperties ?? UnevaluatedItems) is null
        && Allowed.TrueForAll(values => values.AreScalar);
}

/// <summary>A bound of a number.</summary>
/// <param name="Keyword">Such as <c>exclusiveMinimum</c>.</param>
/// <param name="Text">As the schema writes the number.</param>
internal sealed record NumberBound(string Keyword, string Text)
{
    private readonly byte[] _number = System.Text.Encoding.ASCII.GetBytes(Text);

    public bool Holds(DecimalText value)
    {
        var compared = value.CompareTo(new DecimalText(_number));
        return Keyword switch
        {
            "minimum" => compared >= 0,
            "exclusiveMinimum" => compared > 0,
            "maximum" => compared <= 0,
            _ => compared < 0,
        };
    }

    public string Describe() =>
        Keyword switch
        {
            "minimum" => $"is less than {Text}",
            "exclusiveMinimum" => $"is not greater than {Text}",
            "maximum" => $"is greater than {Text}",
            _ => $"is not less than {Text}",
        };
}
