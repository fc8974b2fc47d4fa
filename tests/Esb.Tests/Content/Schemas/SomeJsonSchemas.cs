using System.Text.Json;
using Esb.Content.Schemas.Json;
using Esb.Core.Errors;

namespace Esb.Tests.Content.Schemas;

/// <summary>JSON Schemas without a configuration.</summary>
internal static class SomeJsonSchemas
{
    /// <summary>Compiles a schema; other documents are there under their URIs.</summary>
    public static SomeJsonSchema Compile(string schema, bool assertsFormats = false, params IEnumerable<(Uri Uri, JsonElement Root)> others)
    {
        try
        {
            var documents = new SchemaDocuments(_ => null);
            var document = new SchemaDocument(new Uri("file:///schemas/schema.json"), Path: null, JsonDocument.Parse(schema).RootElement);
            var root = documents.Add(document);
            MetaSchemas.AddTo(documents);
            foreach (var (uri, element) in others)
                documents.Add(new SchemaDocument(uri, Path: null, element));
            var builder = new SchemaBuilder(documents, assertsFormats);
            if (SchemaCheck.Of(document, document.Root, "") is { Count: > 0 } invalid)
                return new SomeJsonSchema(null, invalid);
            var node = builder.Build(root);
            return builder.Faults.Count > 0 ? new SomeJsonSchema(null, builder.Faults) : new SomeJsonSchema(node, []);
        }
        catch (SchemaException ex)
        {
            return new SomeJsonSchema(null, ex.Faults);
        }
    }
}

/// <summary>A compiled schema, or what is wrong with it.</summary>
internal sealed record SomeJsonSchema(SchemaNode? Node, IReadOnlyList<SchemaFault> Faults)
{
    private readonly JsonMessageSchema? _schema = Node is null ? null : new JsonMessageSchema("some", Node);

    /// <summary>True if the document passes; also by the validator of trees, which must agree.</summary>
    public bool Accepts(string document)
    {
        var error = ErrorOf(document);
        if (error is not null && error.Code != "ESB-JSON-SCHEMA")
            throw error;
        var bytes = System.Text.Encoding.UTF8.GetBytes(document);
        var holds = new TreeValidator(bytes, new PointerTrail(bytes), new Violations(bytes)).Check(
            Node!,
            JsonDocument.Parse(bytes).RootElement
        );
        Assert.That(holds, Is.EqualTo(error is null), $"the tree of {document}");
        return error is null;
    }

    /// <summary>What is wrong with a document; null if it passes.</summary>
    public EsbException? ErrorOf(string document)
    {
        try
        {
            _schema!.Validate(Some.Message(document));
            return null;
        }
        catch (EsbException ex)
        {
            return ex;
        }
    }
}
