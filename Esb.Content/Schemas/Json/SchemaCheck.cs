using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>Checks schemas against their meta-schema.</summary>
internal static class SchemaCheck
{
    private const int Reported = 5; // one mistake often breaks several rules

    /// <summary>What is wrong with a schema as one of 2020-12.</summary>
    /// <param name="document">The document that has it.</param>
    /// <param name="schema">The schema.</param>
    /// <param name="pointer">Its place.</param>
    public static IReadOnlyList<SchemaFault> Of(SchemaDocument document, JsonElement schema, string pointer) =>
        Of(document, schema, pointer, MetaSchemas.Schema);

    /// <summary>What is wrong with a schema, by a meta-schema.</summary>
    public static IReadOnlyList<SchemaFault> Of(SchemaDocument document, JsonElement schema, string pointer, SchemaNode metaSchema)
    {
        if (FindOtherDraft(schema) is { } draft)
            return
            [
                new SchemaFault(
                    SchemaFault.Compile,
                    document,
                    $"{pointer}/$schema",
                    $"\"{draft}\" is not supported; \"{MetaSchemas.Root}\" is"
                ),
            ];
        var faults = new Faults(document, pointer);
        new TreeValidator(default, new PointerTrail(default), faults).Check(metaSchema, schema);
        return [.. faults.Found.Distinct().Take(Reported)];
    }

    private static string? FindOtherDraft(JsonElement schema) =>
        schema.ValueKind == JsonValueKind.Object
        && schema.TryGetProperty("$schema", out var name)
        && name.ValueKind == JsonValueKind.String
        && name.GetString() is { } text
        && text.Contains("//json-schema.org/", StringComparison.Ordinal)
        && text.TrimEnd('#') != MetaSchemas.Root
            ? text
            : null;

    private sealed class Faults(SchemaDocument document, string prefix) : IViolationLog
    {
        public List<SchemaFault> Found { get; } = [];

        public void Add(int offset, Func<string> pointer, string keyword, string problem) =>
            Found.Add(new SchemaFault(SchemaFault.Invalid, document, prefix + pointer(), $"{problem} ({keyword})"));
    }
}
