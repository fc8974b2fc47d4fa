using System.Text.Json;

namespace Esb.Content.Schemas.Json;

/// <summary>The meta-schemas of JSON Schema 2020-12, which are part of the program.</summary>
internal static class MetaSchemas
{
    public const string Root = "https://json-schema.org/draft/2020-12/schema";

    private const string Folder = "https://json-schema.org/draft/2020-12/meta/";

    private static readonly string[] Names =
    [
        "schema",
        "core",
        "applicator",
        "unevaluated",
        "validation",
        "meta-data",
        "format-annotation",
        "format-assertion",
        "content",
    ];

    private static readonly Lazy<SchemaDocument[]> Read = new(() => [.. Names.Select(ReadResource)]);
    private static readonly Lazy<SchemaNode> Compiled = new(Compile);

    /// <summary>What a schema of 2020-12 must pass.</summary>
    public static SchemaNode Schema => Compiled.Value;

    /// <summary>Adds the meta-schemas to documents that may refer to them.</summary>
    public static void AddTo(SchemaDocuments documents)
    {
        foreach (var document in Read.Value)
            documents.Add(new SchemaDocument(document.Uri, Path: null, document.Root));
    }

    private static SchemaNode Compile()
    {
        var documents = new SchemaDocuments(load: _ => null);
        AddTo(documents);
        return new SchemaBuilder(documents, assertsFormats: false).Build(documents.Find(new Uri(Root))!);
    }

    private static SchemaDocument ReadResource(string name)
    {
        using var stream = typeof(MetaSchemas).Assembly.GetManifestResourceStream($"Esb.Content.Schemas.Json.MetaSchemas.{name}.json")!;
        using var document = JsonDocument.Parse(stream);
        return new SchemaDocument(new Uri(name == "schema" ? Root : Folder + name), Path: null, document.RootElement.Clone());
    }
}
