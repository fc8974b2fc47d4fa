using System.Globalization;
using System.Text;
using System.Text.Json;
using Esb.Content.Schemas.Json;
using Esb.Core.Messages;

namespace Esb.Benchmarks;

/// <summary>Documents of many fields or many levels, with the schemas that say so: of each field the type, the length and whether it must
/// be there.</summary>
internal static class SchemaShapes
{
    /// <summary>The validation of an object with so many fields.</summary>
    public static Action OfFields(int fields)
    {
        var names = Enumerable.Range(0, fields).Select(i => string.Create(CultureInfo.InvariantCulture, $"field{i}")).ToList();
        var members = string.Join(',', names.Select(name => $$"""{{Quote(name)}}:{"type":"string","maxLength":20}"""));
        var required = string.Join(',', names.Select(Quote));
        return Validation(
            $$"""{"type":"object","required":[{{required}}],"properties":{ {{members}} },"additionalProperties":false}""",
            $$"""{ {{string.Join(',', names.Select(name => $"{Quote(name)}:\"some text\""))}} }"""
        );
    }

    /// <summary>The validation of objects in one another, so many levels deep.</summary>
    public static Action OfLevels(int levels)
    {
        var (schema, document) = ("""{"type":"string","maxLength":20}""", "\"some text\"");
        for (var level = 1; level < levels; level++)
        {
            schema = $$"""{"type":"object","required":["inner"],"properties":{"inner":{{schema}}},"additionalProperties":false}""";
            document = $$"""{"inner":{{document}}}""";
        }

        return Validation(schema, document);
    }

    private static Action Validation(string text, string document)
    {
        var documents = new SchemaDocuments(_ => null);
        using var parsed = JsonDocument.Parse(text, new JsonDocumentOptions { MaxDepth = 1_000 });
        var root = documents.Add(new SchemaDocument(new Uri("file:///shape.json"), Path: null, parsed.RootElement.Clone()));
        var schema = new JsonMessageSchema("shape", new SchemaBuilder(documents, assertsFormats: false).Build(root));
        var message = EsbMessage.Create(MessageBody.FromBytes(Encoding.UTF8.GetBytes(document)), TimeProvider.System);
        return () => schema.Validate(message);
    }

    private static string Quote(string name) => $"\"{name}\"";
}
