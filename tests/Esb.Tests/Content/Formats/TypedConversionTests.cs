using Esb.Content.Formats.Conversion;
using Esb.Content.Schemas;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Formats;

/// <summary>JSON made of XML with the types of a JSON Schema.</summary>
public sealed class TypedConversionTests
{
    [TestCase("integer", "12", "12"), TestCase("integer", " -3\n", "-3"), TestCase("number", "12.50", "12.50")]
    [TestCase("number", "+007.5", "7.5"), TestCase("number", ".5", "0.5"), TestCase("number", "5.", "5"), TestCase("number", "1E+3", "1e3")]
    [TestCase("number", "123456789012345678901234567890.10", "123456789012345678901234567890.10")]
    [TestCase("boolean", "true", "true"), TestCase("boolean", "0", "false"), TestCase("null", "", "null"), TestCase("object", "", "{}")]
    public void Text_of_the_type_is_a_value_of_it(string type, string text, string json) => AssertMade(type, text, json);

    [TestCase("integer", "twelve"), TestCase("number", ""), TestCase("number", "1 2"), TestCase("number", "-"), TestCase("number", ".")]
    [TestCase("number", "1e"), TestCase("number", "INF"), TestCase("number", "0x10"), TestCase("number", "1,5"), TestCase("boolean", "yes")]
    [TestCase("string", "12")]
    public void Text_that_is_not_of_the_type_stays_a_text(string type, string text) => AssertMade(type, text, $"\"{text}\"");

    [Test]
    public void Attributes_children_and_single_elements_of_arrays_have_their_types()
    {
        const string Schema = """
            {
              "properties": { "order": { "$ref": "#/$defs/order" } },
              "$defs": {
                "order": {
                  "type": "object",
                  "properties": {
                    "@id": { "type": "integer" },
                    "paid": { "type": ["boolean", "null"] },
                    "line": { "type": "array", "items": { "type": "object", "properties": { "qty": { "$ref": "#/$defs/count" }, "price": { "type": "object", "properties": { "@currency": { "type": "string" }, "#text": { "type": "number" } } } } } }
                  }
                },
                "count": { "type": "integer", "minimum": 1 }
              }
            }
            """;

        Assert.That(
            Convert(
                "<order id='7' key='7'><paid/><line><qty>2</qty><price currency='EUR'>9.90</price></line><note>5</note></order>",
                Schema
            ),
            Is.EqualTo(
                """{"order":{"@id":7,"@key":"7","paid":null,"line":[{"qty":2,"price":{"@currency":"EUR","#text":9.90}}],"note":"5"}}"""
            )
        );
        Assert.That(
            Convert("<order><line><price>1</price></line><line/></order>", Schema),
            Is.EqualTo("""{"order":{"line":[{"price":{"#text":1}},{}]}}""")
        );
    }

    [TestCase("""{ "allOf": [{ "properties": { "a": { "minimum": 0 } } }, { "properties": { "a": { "type": "integer" } } }] }""", "5")]
    [TestCase("""{ "oneOf": [{ "properties": { "a": { "type": "integer" } } }, { "properties": { "b": { "type": "string" } } }] }""", "5")]
    [TestCase(
        """{ "anyOf": [{ "properties": { "a": { "type": "integer" } } }, { "properties": { "a": { "type": "string" } } }] }""",
        "\"5\""
    )]
    [TestCase("""{ "if": { "required": ["b"] }, "then": { "properties": { "a": { "type": "number" } } } }""", "5")]
    [
        TestCase("""{ "properties": { "a": { "enum": [1, 5] } } }""", "5"),
        TestCase("""{ "properties": { "a": { "const": "5" } } }""", "\"5\"")
    ]
    [TestCase("""{ "patternProperties": { "^a": { "type": "integer" } } }""", "5")]
    [TestCase("""{ "additionalProperties": { "type": "integer" } }""", "5"), TestCase("""{ "additionalProperties": false }""", "\"5\"")]
    [TestCase("""{ "not": { "properties": { "a": { "type": "integer" } } } }""", "\"5\""), TestCase("true", "\"5\"")]
    public void Every_schema_that_may_apply_to_a_value_counts(string root, string json) =>
        Assert.That(Convert("<r><a>5</a></r>", $$"""{ "properties": { "r": {{root}} } }"""), Is.EqualTo($$$"""{"r":{"a":{{{json}}}}}"""));

    [Test]
    public void Schema_that_refers_to_itself_holds_at_every_depth()
    {
        const string Schema =
            """{ "additionalProperties": { "$ref": "#/$defs/node" }, "$defs": { "node": { "properties": { "v": { "type": "integer" }, "node": { "$ref": "#/$defs/node" }, "all": { "type": "array", "items": { "$ref": "#/$defs/node" } } } } } }""";

        Assert.That(
            Convert("<node><v>1</v><node><v>2</v><all><v>3</v><node><v>4</v></node></all></node></node>", Schema),
            Is.EqualTo("""{"node":{"v":1,"node":{"v":2,"all":[{"v":3,"node":{"v":4}}]}}}""")
        );
    }

    [Test]
    public void What_is_converted_passes_the_schema_that_gave_the_types()
    {
        using var content = Configure(
            """{ "type": "object", "required": ["o"], "properties": { "o": { "type": "object", "required": ["n", "tags"], "properties": { "n": { "type": "number", "multipleOf": 0.01 }, "tags": { "type": "array", "minItems": 1 } } } } }"""
        );
        var options = new ConversionOptions { Types = content.Get<SchemaModels>().Find("s")!.Types };

        var body = content
            .Get<ContentConverter>()
            .Convert(MessageBody.FromText("<o><n>19.99</n><tags>x</tags></o>"), "xml", "json", options)
            .Body;

        Assert.That(() => content.Get<ISchemaCatalog>().Find("s")!.Validate(Some.Message(body.ReadText())), Throws.Nothing);
    }

    private static void AssertMade(string type, string text, string json) =>
        Assert.That(
            Convert($"<r><a>{text}</a></r>", $$$"""{ "properties": { "r": { "properties": { "a": { "type": "{{{type}}}" } } } } }"""),
            Is.EqualTo($$$"""{"r":{"a":{{{json}}}}}""")
        );

    private static string Convert(string xml, string schema)
    {
        using var content = Configure(schema);
        Assert.That(content.Errors, Is.Empty);
        return content
            .Get<ContentConverter>()
            .Convert(
                MessageBody.FromText(xml),
                "xml",
                "json",
                new ConversionOptions { Types = content.Get<ISchemaCatalog>().Find("s")!.Types }
            )
            .Body.ReadText();
    }

    private static ConfiguredContent Configure(string schema) =>
        SomeContent.Configure("""{ "schemas": { "s": "s.schema.json" } }""", ("s.schema.json", schema));
}
