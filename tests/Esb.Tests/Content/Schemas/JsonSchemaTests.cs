using Esb.Content.Masking;
using Esb.Content.Schemas;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Tests.Content.Masking;

namespace Esb.Tests.Content.Schemas;

/// <summary>JSON Schemas of a configuration, and what messages do to them.</summary>
public sealed class JsonSchemaTests
{
    private const string OneSchema = """{ "schemas": { "order": "schemas/order.schema.json" } }""";

    private const string TwoSchemas = """{ "schemas": { "order": "schemas/order.schema.json", "other": "schemas/other.schema.json" } }""";

    private const string Order = """
        {
          "type": "object",
          "required": ["id", "lines"],
          "properties": {
            "id": { "type": "string", "pattern": "^[A-Z]{2}-\\d+$" },
            "lines": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/line" } },
            "card": { "type": "string", "maxLength": 4 }
          },
          "additionalProperties": false,
          "$defs": { "line": { "type": "object", "required": ["sku"], "properties": { "sku": { "type": "string" }, "quantity": { "type": "integer", "minimum": 1 } } } }
        }
        """;

    [Test]
    public void A_document_of_the_schema_passes()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.schema.json", Order));

        Assert.That(content.Errors, Is.Empty);
        Assert.That(
            () => Find(content).Validate(Some.Message("""{ "id": "AB-1", "lines": [{ "sku": "x", "quantity": 2.0, "note": {} }] }""")),
            Throws.Nothing
        );
    }

    [Test]
    public void Violations_name_line_column_pointer_and_keyword_and_no_value()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.schema.json", Order));

        var error = Refused(
            content,
            "{ \"id\": \"secret\",\n  \"lines\": [{ \"sku\": \"x\" }, { \"quantity\": 0 }],\n  \"a/b~c\": \"hidden\" }"
        );

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-JSON-SCHEMA", FaultKind.Invalid)));
        Assert.That(
            error.Message,
            Is.EqualTo(
                @"The document breaks schema order in 4 places: line 1, column 9: /id: does not match ^[A-Z]{2}-\d+$ (pattern); "
                    + "line 2, column 43: /lines/1/quantity: is less than 1 (minimum); line 2, column 29: /lines/1: lacks \"sku\" "
                    + "(required); "
                    + "line 3, column 12: /a~1b~0c: is not allowed (additionalProperties)."
            )
        );
    }

    [Test, Property("Case", "JSN-15")]
    public void Many_violations_are_counted_and_the_first_twenty_shown()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.schema.json", Order));

        var error = Refused(content, $$"""{ "id": "AB-1", "lines": [{{string.Join(",\n", Enumerable.Repeat("1", 25))}}] }""");

        Assert.That(error.Message, Does.Contain("25 places; the first 20").And.Contain("/lines/19:").And.Not.Contain("/lines/20:"));
    }

    [Test, Property("Case", "AUD-02")]
    public void A_name_that_a_mask_hides_is_not_told()
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.schema.json", Order));
        var message = Some.Message("""{ "id": "AB-1", "lines": [{ "sku": "x" }], "card": "4711-0815-4711" }""");
        MaskedFlow.Follow(SomeMasks.Of(new MaskConfig { Jsonpath = "$.card", Action = MaskAction.Drop }), message);

        var error = Assert.Throws<EsbException>(() => Find(content).Validate(message))!;

        Assert.That(error.Message, Does.Contain("/card: is longer than 4 characters (maxLength)").And.Not.Contain("4711"));
    }

    [TestCase("", "ESB-JSON-EMPTY")]
    [TestCase("""{ "id": "AB-1" """, "ESB-JSON-SYNTAX")]
    [TestCase("""{ "id": 01 }""", "ESB-JSON-NUMBER")]
    [TestCase("""{ "id": "AB-1", "id": "AB-2" }""", "ESB-JSON-DUPKEY")]
    [TestCase("""{ "id": "AB-1", "lines": [{ "new": 1, "n\u0065w": 2 }] }""", "ESB-JSON-DUPKEY")]
    [TestCase("""{ "id": "AB-1", "i\u0064": "AB-2" }""", "ESB-JSON-DUPKEY")]
    [TestCase("""{} {}""", "ESB-JSON-SYNTAX")]
    [TestCase("<order/>", "ESB-JSON-SYNTAX")]
    public void A_body_that_cannot_be_read_is_malformed_and_not_invalid(string body, string code)
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.schema.json", Order));

        var error = Refused(content, body);

        Assert.That((error.Code, error.Kind), Is.EqualTo((code, FaultKind.Malformed)));
    }

    [TestCase("{}")]
    [TestCase("""{ "uniqueItems": true }""")]
    [TestCase("""{ "items": { "$ref": "#" }, "minItems": 0 }""")]
    [TestCase("""{ "anyOf": [{ "items": { "$ref": "#" } }, { "contains": { "$ref": "#" } }] }""")]
    public void Nesting_without_end_is_refused(string schema)
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.schema.json", schema));

        Assert.That(Refused(content, new string('[', 10_000) + new string(']', 10_000)).Code, Is.EqualTo("ESB-JSON-DEPTH"));
    }

    [Test]
    public void Schemas_reach_each_other_by_id_and_by_file()
    {
        using var content = SomeContent.Configure(
            """{ "schemas": { "order": "orders/order.json", "address": { "file": "common/address.json", "formats": "assert" } } }""",
            (
                "orders/order.json",
                """{ "$id": "https://shop.example/order", "properties": { "to": { "$ref": "address" }, "from": { "$ref": "../common/address.json" }, "at": { "$ref": "parts/date.json" } } }"""
            ),
            ("orders/parts/date.json", """{ "type": "string", "$ref": "more/length.json#ten" }"""),
            ("orders/parts/more/length.json", """{ "$defs": { "x": { "$anchor": "ten", "maxLength": 10 } } }"""),
            (
                "common/address.json",
                """{ "$id": "https://shop.example/address", "required": ["city"], "properties": { "mail": { "format": "email" } } }"""
            )
        );

        Assert.That(content.Errors, Is.Empty);
        Assert.That(
            Refused(content, """{ "to": {}, "from": {}, "at": "2026-11-23T10:00" }""").Message,
            Does.Contain("3 places").And.Contain("/to: lacks").And.Contain("/from: lacks").And.Contain("/at: is longer")
        );
        var address = content.Get<ISchemaCatalog>().Find("address")!;
        Assert.That(
            () => address.Validate(Some.Message("""{ "city": "x", "mail": "nobody" }""")),
            Throws.InstanceOf<EsbException>().With.Message.Contains("is not in the format email")
        );
    }

    [TestCase(
        """{ "properties": { "a": { "$ref": "https://shop.example/other" } } }""",
        "ESB-JSD-REF",
        "/properties/a/$ref: \"https://shop.example/other\" is not part of the configuration"
    )]
    [TestCase("""{ "items": { "$ref": "../secret.json" } }""", "ESB-JSD-REF", "/items/$ref: \"../secret.json\" is not part")]
    [TestCase("""{ "items": { "$ref": "/etc/passwd" } }""", "ESB-JSD-REF", "/items/$ref")]
    [TestCase("""{ "items": { "$ref": "file:///etc/passwd" } }""", "ESB-JSD-REF", "/items/$ref")]
    [TestCase("""{ "items": { "$ref": "#/$defs/none" } }""", "ESB-JSD-REF", "/items/$ref: there is nothing at")]
    [TestCase("""{ "items": { "$dynamicRef": "#none" } }""", "ESB-JSD-REF", "/items/$dynamicRef: there is nothing at")]
    [TestCase("""{ "$ref": "#" }""", "ESB-JSD-LOOP", "refers to itself")]
    [TestCase(
        """{ "$defs": { "a": { "anyOf": [{ "$ref": "#/$defs/b" }] }, "b": { "not": { "$ref": "#/$defs/a" } } }, "items": { "$ref": "#/$defs/a" } }""",
        "ESB-JSD-LOOP",
        "/$defs/a"
    )]
    [TestCase("""{ "properties": { "a": { "type": "text" } } }""", "ESB-JSD-INVALID", "/properties/a/type")]
    [TestCase("""{ "minLength": -1 }""", "ESB-JSD-INVALID", "/minLength: is less than 0 (minimum)")]
    [TestCase("""[]""", "ESB-JSD-INVALID", "order.schema.json")]
    [TestCase("""{ "type": "object", "type": "array" }""", "ESB-JSD-COMPILE", "order.schema.json")]
    [TestCase("""{ "type": """, "ESB-JSD-COMPILE", "line 1")]
    [TestCase("""{ "$schema": "http://json-schema.org/draft-07/schema#" }""", "ESB-JSD-COMPILE", "/$schema")]
    [TestCase(
        """{ "items": { "pattern": "(a)\\1" } }""",
        "ESB-JSD-PATTERN",
        "/items/pattern: the pattern cannot be used: back-references are not supported"
    )]
    [TestCase(
        """{ "patternProperties": { "^(?!x)": true } }""",
        "ESB-JSD-PATTERN",
        "/patternProperties/^(?!x): the pattern cannot be used: look-around is not supported"
    )]
    [TestCase("""{ "pattern": "(?<=a)b" }""", "ESB-JSD-PATTERN", "look-around")]
    [TestCase(
        """{ "pattern": "((a{1000}){1000}){1000}" }""",
        "ESB-JSD-PATTERN",
        "/pattern: the pattern cannot be used: its counts multiply"
    )]
    [TestCase("""{ "pattern": "[z-a]" }""", "ESB-JSD-PATTERN", "/pattern")]
    public void A_broken_schema_is_a_configuration_error_with_its_place(string schema, string code, string place)
    {
        using var content = SomeContent.Configure(OneSchema, ("schemas/order.schema.json", schema), ("secret.json", "{}"));

        Assert.That(content.Errors, Is.Not.Empty);
        Assert.That(content.Errors.Select(error => (error.Code, error.Path)), Is.All.EqualTo((code, "schemas.order")));
        Assert.That(
            content.Errors[0].Expected,
            Does.StartWith($"schemas{Path.DirectorySeparatorChar}order.schema.json").And.Contain(place)
        );
        Assert.That(content.Get<ISchemaCatalog>().Find("order"), Is.Null);
    }

    [Test]
    public void Schemas_that_refer_to_each_other_without_end_are_refused_each()
    {
        using var content = SomeContent.Configure(
            TwoSchemas,
            ("schemas/order.schema.json", """{ "$ref": "other.schema.json" }"""),
            ("schemas/other.schema.json", """{ "if": true, "then": { "allOf": [{ "$ref": "order.schema.json" }] } }""")
        );

        Assert.That(
            content.Errors.Select(error => (error.Code, error.Path)),
            Is.EquivalentTo(new[] { ("ESB-JSD-LOOP", "schemas.order"), ("ESB-JSD-LOOP", "schemas.other") })
        );
        Assert.That(content.Errors.Select(error => error.Expected), Has.All.Contains("refers to itself for the same value, without end"));
    }

    [Test]
    public void Schema_that_refers_to_itself_only_through_the_one_that_uses_another_is_refused()
    {
        using var content = SomeContent.Configure(
            TwoSchemas,
            ("schemas/order.schema.json", """{ "$id": "https://shop.example/order", "$dynamicAnchor": "node", "$ref": "other" }"""),
            (
                "schemas/other.schema.json",
                """{ "$id": "https://shop.example/other", "$dynamicRef": "#node", "$defs": { "any": { "$dynamicAnchor": "node", "type": "integer" } } }"""
            )
        );

        Assert.That(
            content.Errors.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-JSD-LOOP", "schemas.order") }),
            "the other one is sound by itself"
        );
    }

    [Test]
    public void Schemas_that_refer_to_each_other_for_what_is_inside_of_a_value_end_with_the_document()
    {
        using var content = SomeContent.Configure(
            TwoSchemas,
            ("schemas/order.schema.json", """{ "required": ["next"], "properties": { "next": { "$ref": "other.schema.json" } } }"""),
            ("schemas/other.schema.json", """{ "anyOf": [{ "type": "null" }, { "$ref": "order.schema.json" }] }""")
        );

        Assert.That(content.Errors, Is.Empty);
        Assert.That(() => Find(content).Validate(Some.Message("""{ "next": { "next": { "next": null } } }""")), Throws.Nothing);
        Assert.That(Refused(content, """{ "next": { "next": {} } }""").Message, Does.Contain("/next: passes none of 2 schemas (anyOf)"));
    }

    [Test]
    public void All_errors_of_a_schema_are_told_at_once()
    {
        using var content = SomeContent.Configure(
            OneSchema,
            ("schemas/order.schema.json", """{ "items": { "$ref": "#a" }, "pattern": "(?=a)", "contains": { "pattern": "(" } }""")
        );

        Assert.That(
            content.Errors.Select(error => error.Code),
            Is.EquivalentTo(new[] { "ESB-JSD-REF", "ESB-JSD-PATTERN", "ESB-JSD-PATTERN" })
        );
    }

    [Test, CancelAfter(60_000)]
    public void Schemas_with_very_many_references_behind_each_other_are_compiled()
    {
        var chain = string.Join(
            ",",
            Enumerable
                .Range(0, 10_000)
                .Select(i =>
                    $$"""
                        "{{i}}": { "$ref": "#/$defs/{{i + 1}}" }
                        """
                )
        );

        var schema = SomeJsonSchemas.Compile($$"""{ "$ref": "#/$defs/0", "$defs": { {{chain}}, "10000": { "type": "integer" } } }""");

        Assert.That(schema.Faults, Is.Empty);
        Assert.That(schema.ErrorOf("1"), Is.Null);
        Assert.That(schema.ErrorOf("true")!.Message, Does.Contain("is not an integer"));
    }

    [Test, CancelAfter(60_000)]
    public void Alternatives_that_multiply_end_in_time()
    {
        var schema = SomeJsonSchemas.Compile(
            """{ "anyOf": [{ "items": { "$ref": "#" }, "minItems": 1 }, { "items": { "$ref": "#" }, "minItems": 1 }] }"""
        );

        var error = schema.ErrorOf(new string('[', 60) + new string(']', 60))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-JSON-SCHEMA", FaultKind.Invalid)));
        Assert.That(error.Message, Does.Contain("cannot be decided in time"));
    }

    [Test, CancelAfter(60_000)]
    public void A_pattern_that_would_explode_is_linear()
    {
        var schema = SomeJsonSchemas.Compile("""{ "pattern": "^(([a-z])+.)+[A-Z]([a-z])+$" }""");

        Assert.That(schema.Accepts($"\"{new string('a', 100_000)}\""), Is.False);
    }

    [TestCase("""{ "multipleOf": 0.01 }""", "19.99", true)]
    [TestCase("""{ "multipleOf": 0.01 }""", "19.999", false)]
    [TestCase("""{ "multipleOf": 0.1 }""", "1e999999999999999999999", true)]
    [TestCase("""{ "multipleOf": 3 }""", "1e1000000000", false)]
    [TestCase("""{ "multipleOf": 123456789012345678901234567890 }""", "370370367037037036703703703670", true)]
    [TestCase("""{ "multipleOf": 123456789012345678901234567890 }""", "370370367037037036703703703671", false)]
    [TestCase("""{ "maximum": 9007199254740992 }""", "9007199254740993", false)]
    [TestCase("""{ "maximum": 0.1 }""", "0.1000000000000000000000000001", false)]
    [TestCase("""{ "exclusiveMinimum": -1e-400 }""", "-1e-399", false)]
    [TestCase("""{ "minimum": -1e-400 }""", "-0.0", true)]
    [TestCase("""{ "const": 100 }""", "1.00e2", true)]
    [TestCase("""{ "enum": [[1.0, { "a": 1, "b": 2 }]] }""", """[1, { "b": 20e-1, "a": 1 }]""", true)]
    [TestCase("""{ "type": "integer" }""", "123456789012345678901234567890.0", true)]
    [TestCase("""{ "type": "integer" }""", "12345678901234567890123456789.05", false)]
    [TestCase("""{ "uniqueItems": true }""", "[1, true, \"1\", 1.0]", false)]
    public void Numbers_are_exact(string schema, string document, bool isAccepted) =>
        Assert.That(SomeJsonSchemas.Compile(schema).Accepts(document), Is.EqualTo(isAccepted));

    [Test, CancelAfter(60_000)]
    public void Numbers_of_a_million_digits_are_compared()
    {
        var schema = SomeJsonSchemas.Compile("""{ "multipleOf": 7, "maximum": 1e999999 }""");

        Assert.That(schema.Accepts("7" + new string('0', 999_998)), Is.True);
        Assert.That(schema.Accepts("1" + new string('0', 999_998)), Is.False);
    }

    [Test]
    public void Lengths_are_those_of_characters_and_names_are_compared_unescaped()
    {
        var schema = SomeJsonSchemas.Compile(
            """{ "maxLength": 2, "properties": { "é": { "const": "a\"b" } }, "propertyNames": { "maxLength": 3 } }"""
        );

        Assert.That(schema.Accepts("\"\\ud83d\\ude00é\""), Is.True);
        Assert.That(schema.Accepts("\"abc\""), Is.False);
        Assert.That(schema.Accepts("""{ "\u00e9": "a\u0022b" }"""), Is.True);
        Assert.That(schema.Accepts("""{ "\u00e9": "b" }"""), Is.False);
        Assert.That(schema.Accepts("""{ "long": 1 }"""), Is.False);
    }

    [Test]
    public void Half_of_a_character_is_no_text() =>
        Assert.That(SomeJsonSchemas.Compile("""{ "maxLength": 2 }""").ErrorOf("\"\\ud800\"")!.Code, Is.EqualTo("ESB-JSON-ENCODING"));

    [Test]
    public void A_change_is_taken_once_it_is_quiet_and_a_broken_one_is_refused()
    {
        using var content = SomeContent.Configure(
            OneSchema,
            ("schemas/order.schema.json", """{ "$ref": "part.json" }"""),
            ("schemas/part.json", """{ "type": "object" }""")
        );
        var schema = content.Get<SchemaCatalog>().All.Single();
        var part = Path.Combine(content.Folder, "schemas", "part.json");

        Assert.That(() => schema.Validate(Some.Message("[]")), Throws.InstanceOf<EsbException>());
        File.WriteAllText(part, """{ "type": "array" }""");
        schema.Look();
        Assert.That(() => schema.Validate(Some.Message("[]")), Throws.InstanceOf<EsbException>(), "it may still be written");
        schema.Look();
        Assert.That(() => schema.Validate(Some.Message("[]")), Throws.Nothing);

        File.WriteAllText(part, """{ "type": "list!" }""");
        schema.Look();
        schema.Look();
        Assert.That(schema.Problem, Does.StartWith("ESB-JSD-").And.Contain("part.json"));
        Assert.That(() => schema.Validate(Some.Message("[]")), Throws.Nothing);

        File.WriteAllText(part, """{ "$ref": "order.schema.json" }""");
        schema.Look();
        schema.Look();
        Assert.That(schema.Problem, Does.StartWith("ESB-JSD-LOOP"));
        Assert.That(() => schema.Validate(Some.Message("[]")), Throws.Nothing);

        File.WriteAllText(part, """{ "type": "string" }""");
        schema.Look();
        schema.Look();
        Assert.That(schema.Problem, Is.Null);
        Assert.That(() => schema.Validate(Some.Message("[]")), Throws.InstanceOf<EsbException>());
    }

    private static IMessageSchema Find(ConfiguredContent content) => content.Get<ISchemaCatalog>().Find("order")!;

    private static EsbException Refused(ConfiguredContent content, string document) =>
        Assert.Throws<EsbException>(() => Find(content).Validate(Some.Message(document)))!;
}
