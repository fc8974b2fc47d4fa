using System.Collections.Frozen;
using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>The vocabularies of 2020-12 that a schema is written with. Immutable.</summary>
internal sealed class Dialect
{
    public const string Vocabularies = "https://json-schema.org/draft/2020-12/vocab/";

    private static readonly FrozenDictionary<string, string[]> Keywords = new Dictionary<string, string[]>
    {
        ["applicator"] =
        [
            "prefixItems",
            "items",
            "contains",
            "additionalProperties",
            "properties",
            "patternProperties",
            "dependentSchemas",
            "propertyNames",
            "if",
            "then",
            "else",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
        ],
        ["unevaluated"] = ["unevaluatedItems", "unevaluatedProperties"],
        ["validation"] =
        [
            "type",
            "const",
            "enum",
            "multipleOf",
            "maximum",
            "exclusiveMaximum",
            "minimum",
            "exclusiveMinimum",
            "maxLength",
            "minLength",
            "pattern",
            "maxItems",
            "minItems",
            "uniqueItems",
            "maxContains",
            "minContains",
            "maxProperties",
            "minProperties",
            "required",
            "dependentRequired",
        ],
    }.ToFrozenDictionary();

    /// <summary>What JSON Schema 2020-12 has by itself.</summary>
    public static readonly Dialect Default = new([
        "core",
        "applicator",
        "unevaluated",
        "validation",
        "meta-data",
        "format-annotation",
        "content",
    ]);

    private readonly FrozenSet<string> _unknown; // keywords of vocabularies that it lacks

    private Dialect(IReadOnlyCollection<string> vocabularies)
    {
        _unknown = Keywords
            .Where(vocabulary => !vocabularies.Contains(vocabulary.Key))
            .SelectMany(vocabulary => vocabulary.Value)
            .ToFrozenSet();
        AssertsFormat = vocabularies.Contains("format-assertion");
    }

    /// <summary>True if <c>format</c> is checked and not just said.</summary>
    public bool AssertsFormat { get; }

    /// <summary>The dialect of a meta-schema, by its <c>$vocabulary</c>.</summary>
    /// <exception cref="SchemaException">It requires a vocabulary that is not known.</exception>
    public static Dialect Of(SchemaSite metaSchema)
    {
        if (!metaSchema.Element.TryGetProperty("$vocabulary", out var listed) || listed.ValueKind != JsonValueKind.Object)
            return Default;
        var unknown = listed.EnumerateObject().FirstOrDefault(entry => entry.Value.ValueKind == JsonValueKind.True && !IsKnown(entry.Name));
        if (unknown.Value.ValueKind != JsonValueKind.Undefined)
            throw new SchemaException(
                SchemaFault.Compile,
                metaSchema.Resource.Document,
                metaSchema.PointerTo("$vocabulary", unknown.Name),
                $"the vocabulary {unknown.Name} is not supported"
            );
        return new Dialect([
            .. listed.EnumerateObject().Where(entry => IsKnown(entry.Name)).Select(entry => entry.Name[Vocabularies.Length..]),
        ]);
    }

    /// <summary>True if a keyword counts; one of a vocabulary that is missing does not.</summary>
    public bool Has(string keyword) => !_unknown.Contains(keyword);

    private static bool IsKnown(string vocabulary) =>
        vocabulary.StartsWith(Vocabularies, StringComparison.Ordinal)
        && vocabulary[Vocabularies.Length..]
            is "core"
                or "applicator"
                or "unevaluated"
                or "validation"
                or "meta-data"
                or "format-annotation"
                or "format-assertion"
                or "content";
}
