using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Configuration.Settings;

namespace Esb.Tests.Configuration;

public sealed class SchemaTests : ConfigurationFixture
{
    private static readonly JsonObject Schema = SchemaWriter.Write(Catalog);

    [Test]
    public void The_schema_is_of_draft_2020_12_and_all_its_references_lead_somewhere()
    {
        var references = Descend(Schema)
            .Select(schema => schema["$ref"])
            .OfType<JsonValue>()
            .Select(reference => reference.GetValue<string>())
            .ToList();

        Assert.That(Schema["$schema"]!.GetValue<string>(), Is.EqualTo("https://json-schema.org/draft/2020-12/schema"));
        Assert.That(
            references,
            Is.Not.Empty.And.All.Matches<string>(reference => Schema["$defs"]![reference["#/$defs/".Length..]] is not null)
        );
    }

    [Test]
    public void Every_property_has_a_description()
    {
        var undescribed = Descend(Schema)
            .Select(schema => schema["properties"])
            .OfType<JsonObject>()
            .SelectMany(properties => properties)
            .Where(property => string.IsNullOrWhiteSpace(property.Value!["description"]?.GetValue<string>()))
            .Select(property => property.Value!.GetPath());

        Assert.That(undescribed, Is.Empty);
    }

    [Test]
    public void Defaults_and_ranges_are_told()
    {
        var endpoint = Schema["$defs"]!["EndpointConfig"]!["allOf"]!
            .AsArray()
            .Select(kind => kind!["then"]!)
            .Single(kind => kind["properties"]!["type"]!["const"]!.GetValue<string>() == "file-outbound");

        Assert.Multiple(() =>
        {
            Assert.That(endpoint["properties"]!["poolSize"]!["default"]!.GetValue<long>(), Is.EqualTo(1));
            Assert.That(endpoint["properties"]!["timeout"]!["default"]!.GetValue<string>(), Is.EqualTo("1m"));
            Assert.That(
                endpoint["properties"]!["timeout"]!["description"]!.GetValue<string>(),
                Is.EqualTo("How long one attempt may take. From 1ms to 10m.")
            );
            Assert.That(endpoint["properties"]!["delivery"]!["default"]!.GetValue<string>(), Is.EqualTo("parallel"));
            Assert.That(endpoint["properties"]!["headers"]!["default"]!.ToJsonString(), Is.EqualTo("""["x-*"]"""));
            Assert.That(
                Schema["properties"]!["listeners"]!["default"]!["public"]!["url"]!.GetValue<string>(),
                Is.EqualTo("http://127.0.0.1:8080")
            );
        });
    }

    [Test]
    public void Every_kind_is_offered_and_a_mistake_is_told_about_the_kind_that_is_written()
    {
        Assert.That(
            Schema["$defs"]!["EndpointConfig"]!["properties"]!["type"]!["enum"]!.AsArray().Select(kind => kind!.GetValue<string>()),
            Does.Contain("file-outbound").And.Contain("http-outbound")
        );
        Assert.That(Validate("""{ "endpoints": { "a": { "type": "file-outbound" } } }""").Single(), Does.Contain("has no folder"));
        Assert.That(Validate("""{ "store": { "folder": "data" } }"""), Is.Empty);
        Assert.That(Validate("""{ "store": { "type": "oracle" } }""").Single(), Does.Contain("none of"));
    }

    [Test]
    public void Names_of_a_configuration_are_offered_and_others_refused()
    {
        const string Shop =
            """{ "topics": { "orders": {} }, "endpoints": { "out": { "type": "file-outbound", "folder": "out", "subscribe": ["orders.#"] } }, "processes": { "p": [{ "publish": "orders.new" }] } }""";
        var schema = SchemaWriter.Write(Catalog, Accept(Shop));

        Assert.That(new SchemaValidator(schema).Validate(JsonNode.Parse(Shop)), Is.Empty);
        Assert.That(
            new SchemaValidator(schema).Validate(JsonNode.Parse(Shop.Replace("[\"orders.#\"]", "[\"bills.#\"]", StringComparison.Ordinal))),
            Is.Not.Empty
        );
        Assert.That(schema.ToJsonString(), Does.Contain("\"examples\":[\"orders.#\"]"));
    }

    [Test]
    public void What_is_not_available_is_left_out()
    {
        Assert.That(Schema["properties"]!["policies"], Is.Null);
        Assert.That(Schema.ToJsonString(), Does.Not.Contain("mail-inbound").And.Not.Contain("aggregate").And.Not.Contain("timeToLive"));
    }

    [Test]
    public void The_orders_sample_fits() =>
        Assert.That(Validate(File.ReadAllText(Path.Combine(SampleTests.Sample("orders"), "esb.json"))), Is.Empty);

    // What the reader accepts the schema accepts, and the other way round.
    [Test]
    [TestCase("{}", true)]
    [TestCase("""{ "$schema": "esb.schema.json", "name": "a" }""", true)]
    [TestCase("""{ "transport": {} }""", true)]
    [TestCase("""{ "transport": { "type": "memory" } }""", true)]
    [TestCase("""{ "transport": { "type": "rabbitmq" } }""", false)]
    [TestCase(
        """{ "endpoints": { "a": { "type": "file-outbound", "folder": "x", "poolSize": "${env:N}", "enabled": "${env:F}", "timeout": "${env:T}", "delivery": "${env:D}" } } }""",
        true
    )]
    [TestCase("""{ "endpoints": { "a": { "type": "file-outbound", "folder": "x", "poolSize": 1001 } } }""", false)]
    [TestCase("""{ "endpoints": { "a": { "type": "file-outbound", "folder": "x", "poolSize": "5" } } }""", false)]
    [TestCase("""{ "endpoints": { "a": { "type": "file-outbound", "folder": "x", "timeout": "5" } } }""", false)]
    [TestCase("""{ "endpoints": { "a": { "type": "file-outbound", "folder": "x", "procesingThreads": 5 } } }""", false)]
    [TestCase("""{ "endpoints": { "a": { "folder": "x" } } }""", false)]
    [TestCase("""{ "endpoints": { "a.b": { "type": "file-outbound", "folder": "x" } } }""", false)]
    [TestCase("""{ "endpoints": { "a": { "type": "http-inbound", "path": "/" } } }""", false)]
    [TestCase(
        """{ "processes": { "p": [{ "publish": "t.a", "id": "a", "note": "b" }, { "publish": { "subject": "t.b" } }] }, "topics": { "t": {} } }""",
        true
    )]
    [TestCase("""{ "processes": { "p": [{ "publish": 5 }] } }""", false)]
    [TestCase("""{ "processes": { "p": [{}] } }""", false)]
    [TestCase("""{ "processes": { "p": [{ "publish": "t", "respond": {} }] }, "topics": { "t": {} } }""", false)]
    [TestCase(
        """{ "processes": { "p": [{ "set": { "headers": { "a": "text", "b": 1, "c": true, "d": { "xpath": "/a" }, "e": { "value": { "any": [null] } } } } }] } }""",
        true
    )]
    [TestCase("""{ "processes": { "p": [{ "set": { "headers": { "a": { "xpaht": "/a" } } } }] } }""", false)]
    [TestCase("""{ "processes": { "p": [{ "set": { "headers": { "a": { "message": "contentType" } } } }] } }""", true)]
    [TestCase(
        """{ "processes": { "p": [{ "filter": { "not": { "any": [{ "header": "a" }, { "header": "b", "in": [1, "2"] }] } } }] } }""",
        true
    )]
    [TestCase("""{ "processes": { "p": [{ "filter": { "header": "a", "equals": 1, "in": [1] } }] } }""", false)]
    [TestCase("""{ "processes": { "p": [{ "respond": { "body": { "a": 1 } } }] } }""", true)]
    [TestCase("""{ "processes": { "p": [{ "respond": { "body": 1, "template": "a" } }] } }""", false)]
    public void Schema_and_reader_agree(string json, bool fits)
    {
        var (configuration, errors) = Read(Write("esb.json", json), ("N", "5"), ("F", "false"), ("T", "5s"), ("D", "ordered"));

        Assert.That(configuration is not null, Is.EqualTo(fits), string.Join('\n', errors));
        Assert.That(Validate(json), fits ? Is.Empty : Is.Not.Empty);
    }

    private static IReadOnlyList<string> Validate(string json) =>
        new SchemaValidator(Schema).Validate(
            JsonNode.Parse(json, documentOptions: new JsonDocumentOptions { CommentHandling = JsonCommentHandling.Skip })
        );

    private static IEnumerable<JsonObject> Descend(JsonNode? node) =>
        node switch
        {
            JsonObject owner => owner.SelectMany(member => Descend(member.Value)).Prepend(owner),
            JsonArray array => array.SelectMany(Descend),
            _ => [],
        };
}
