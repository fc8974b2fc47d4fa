using System.Globalization;
using System.Text;
using System.Text.Json;
using BenchmarkDotNet.Attributes;
using Esb.Content.Schemas.Json;
using Esb.Core.Messages;

namespace Esb.Benchmarks;

/// <summary>What the validation of an order of 60 lines with 8 members each costs, beside a reader that only reads it.</summary>
[MemoryDiagnoser]
public class JsonSchemaBenchmark
{
    private const string Schema = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "type": "object",
          "required": ["order", "lines"],
          "properties": {
            "order": { "type": "string", "pattern": "^[A-Z]{2}-[0-9]+$" },
            "lines": { "type": "array", "minItems": 1, "maxItems": 1000, "items": { "$ref": "#/$defs/line" } }
          },
          "additionalProperties": false,
          "$defs": {
            "line": {
              "type": "object",
              "required": ["sku", "name", "quantity", "price"],
              "properties": {
                "sku": { "type": "string", "maxLength": 12 },
                "name": { "type": "string", "minLength": 1, "maxLength": 80 },
                "quantity": { "type": "integer", "minimum": 1 },
                "price": { "type": "number", "minimum": 0, "maximum": 100000 },
                "currency": { "enum": ["EUR", "USD", "GBP"] },
                "taxed": { "type": "boolean" },
                "warehouse": { "type": ["string", "null"] },
                "weight": { "type": "number", "exclusiveMinimum": 0 }
              },
              "additionalProperties": false
            }
          }
        }
        """;

    private JsonMessageSchema _schema = null!;
    private EsbMessage _message = null!;
    private byte[] _document = null!;

    [GlobalSetup]
    public void Prepare()
    {
        var lines = Enumerable
            .Range(1, 60)
            .Select(i =>
                string.Create(
                    CultureInfo.InvariantCulture,
                    $$"""{"sku":"SKU-{{i:0000}}","name":"A thing that is sold, of many","quantity":{{i}},"price":{{i}}.95,"currency":"EUR","taxed":true,"warehouse":"north-{{i}}","weight":{{i}}.125}"""
                )
            );
        _document = Encoding.UTF8.GetBytes($$"""{"order":"AB-4711","lines":[{{string.Join(',', lines)}}]}""");
        _message = EsbMessage.Create(MessageBody.FromBytes(_document), TimeProvider.System);
        var documents = new SchemaDocuments(_ => null);
        var root = documents.Add(new SchemaDocument(new Uri("file:///order.json"), Path: null, JsonDocument.Parse(Schema).RootElement));
        _schema = new JsonMessageSchema("order", new SchemaBuilder(documents, assertsFormats: false).Build(root));
    }

    /// <summary>Bytes of the document, for a rate.</summary>
    public int Bytes => _document.Length;

    [Benchmark(Baseline = true)]
    public long Reader()
    {
        var reader = new Utf8JsonReader(_document);
        while (reader.Read()) { }

        return reader.BytesConsumed;
    }

    [Benchmark]
    public void Validate() => _schema.Validate(_message);
}
