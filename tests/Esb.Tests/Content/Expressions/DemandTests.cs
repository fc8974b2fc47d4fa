using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Expressions;

/// <summary>Values that a message must have, and must not have twice.</summary>
public sealed class DemandTests
{
    private const string Order = "<order id='A-1'><line sku='T'/><line sku='C'/><line sku='D'/><note/></order>";
    private const string Json = """{ "id": "A-1", "lines": [{ "sku": "T" }, { "sku": "C" }], "note": null }""";

    [TestCase("/order/missing"), TestCase("/order/line[@sku = 'X']"), TestCase("//line[last()]/@price"), Property("Case", "XPT-05")]
    public void A_required_XPath_that_matches_nothing_names_itself_and_the_message(string xpath)
    {
        var message = Some.Message(Order);

        var failure = Fail(new ValueConfig { Xpath = xpath, Required = true }, message);

        Assert.That((failure.Code, failure.Kind), Is.EqualTo(("ESB-XPT-NOMATCH", FaultKind.Invalid)));
        Assert.That(failure.Message, Is.EqualTo($"The XPath {xpath} matches nothing in message {message.Id}."));
    }

    [TestCase("/order/@id", "A-1"), TestCase("/order/note", ""), TestCase("/order/line/@sku", "T"), Property("Case", "XPT-05")]
    public void A_required_XPath_that_matches_gives_its_value_also_an_empty_one(string xpath, string expected)
    {
        Assert.That(Evaluate(new ValueConfig { Xpath = xpath, Required = true }, Order), Is.EqualTo(expected));
    }

    [
        TestCase("//line", 3),
        TestCase("/order/line/@sku", 3),
        TestCase("//line[position() > 1] | //note", 3),
        TestCase("//line[position() < 3]", 2),
        Property("Case", "XPT-06")
    ]
    public void A_single_XPath_that_matches_more_than_one_node_tells_how_many(string xpath, int count)
    {
        var message = Some.Message(Order);

        var failure = Fail(new ValueConfig { Xpath = xpath, Single = true }, message);

        Assert.That((failure.Code, failure.Kind), Is.EqualTo(("ESB-XPT-MULTI", FaultKind.Invalid)));
        Assert.That(
            failure.Message,
            Is.EqualTo($"The XPath {xpath} matches {count} nodes in message {message.Id}, where one at most may be.")
        );
    }

    [TestCase("/order/@id", "A-1"), TestCase("//line[@sku = 'C']/@sku", "C"), TestCase("/order/missing", null), Property("Case", "XPT-06")]
    public void A_single_XPath_takes_one_node_or_none(string xpath, string? expected)
    {
        Assert.That(Evaluate(new ValueConfig { Xpath = xpath, Single = true }, Order), Is.EqualTo(expected));
    }

    [Test, Property("Case", "XPT-05"), Property("Case", "XPT-06")]
    public void Both_demands_together_want_exactly_one()
    {
        var config = new ValueConfig
        {
            Xpath = "/order/line/@sku",
            Required = true,
            Single = true,
        };

        Assert.That(Evaluate(config, "<order><line sku='T'/></order>"), Is.EqualTo("T"));
        Assert.That(Fail(config, Some.Message("<order/>")).Code, Is.EqualTo("ESB-XPT-NOMATCH"));
        Assert.That(Fail(config, Some.Message(Order)).Code, Is.EqualTo("ESB-XPT-MULTI"));
    }

    [
        TestCase("$.missing", "ESB-JPT-NOMATCH"),
        TestCase("$.note", "ESB-JPT-NOMATCH"),
        TestCase("$.lines[?@.sku == 'X']", "ESB-JPT-NOMATCH"),
        TestCase("$..price", "ESB-JPT-NOMATCH"),
        TestCase("$.id", null),
        TestCase("$.lines[0]", null)
    ]
    public void A_required_JSONPath_wants_a_value(string jsonpath, string? code)
    {
        var config = new ValueConfig { Jsonpath = jsonpath, Required = true };

        if (code is null)
            Assert.That(Evaluate(config, Json), Is.Not.Null);
        else
            Assert.That(Fail(config, Some.Message(Json)).Code, Is.EqualTo(code));
    }

    [TestCase("$.lines[*].sku", 2), TestCase("$..sku", 2), TestCase("$.lines[?@.sku]", 2)]
    public void A_single_JSONPath_that_selects_more_than_one_node_tells_how_many(string jsonpath, int count)
    {
        var message = Some.Message(Json);

        var failure = Fail(new ValueConfig { Jsonpath = jsonpath, Single = true }, message);

        Assert.That(failure.Code, Is.EqualTo("ESB-JPT-MULTI"));
        Assert.That(
            failure.Message,
            Is.EqualTo($"The JSONPath {jsonpath} matches {count} nodes in message {message.Id}, where one at most may be.")
        );
    }

    [TestCase("$.id", "A-1"), TestCase("$.lines[?@.sku == 'C'].sku", "C"), TestCase("$.lines[5].sku", null)]
    public void A_single_JSONPath_takes_one_node_or_none(string jsonpath, string? expected)
    {
        Assert.That(Evaluate(new ValueConfig { Jsonpath = jsonpath, Single = true }, Json), Is.EqualTo(expected));
    }

    [
        TestCase("[1, 2]", "an array"),
        TestCase(" \"text\"", "a text"),
        TestCase("12", "a number"),
        TestCase("-1", "a number"),
        TestCase("true", "a boolean"),
        TestCase("null", "null"),
        TestCase("\uFEFF\n[{\"id\": 1}]", "an array")
    ]
    [Property("Case", "JSN-10")]
    public void A_required_member_needs_an_object_for_a_root(string json, string kind)
    {
        var message = Some.Message(json);

        var failure = Fail(new ValueConfig { Jsonpath = "$.id", Required = true }, message);

        Assert.That((failure.Code, failure.Kind), Is.EqualTo(("ESB-JSON-ROOT", FaultKind.Invalid)));
        Assert.That(failure.Message, Is.EqualTo($"The JSONPath $.id needs an object, and the JSON is {kind} in message {message.Id}."));
    }

    [TestCase("$[0]", "[1]"), TestCase("$", "\"text\""), TestCase("$[*].id", "[{\"id\": 1}]"), Property("Case", "JSN-10")]
    public void What_needs_no_object_takes_any_root(string jsonpath, string json)
    {
        Assert.That(Evaluate(new ValueConfig { Jsonpath = jsonpath, Required = true }, json), Is.Not.Null);
    }

    [Test, Property("Case", "JSN-10")]
    public void A_member_that_is_not_required_is_missing_in_any_other_root()
    {
        Assert.That(Evaluate(new ValueConfig { Jsonpath = "$.id" }, "[1]"), Is.Null);
    }

    [Test]
    public void A_required_header_or_property_that_is_not_there_is_named()
    {
        Assert.That(
            Fail(new ValueConfig { Header = "x-order", Required = true }, Some.Message()).Message,
            Does.StartWith("There is no header x-order in message ")
        );
        Assert.That(Fail(new ValueConfig { Property = "total", Required = true }, Some.Message()).Code, Is.EqualTo("ESB-EXPR-NOVALUE"));
        Assert.That(
            Fail(new ValueConfig { Message = MessagePart.ContentType, Required = true }, Some.Message(contentType: null)).Message,
            Does.StartWith("There is no contentType in message ")
        );
    }

    [
        TestCase("count(/order/line)", true, false, "ESB-XPT-TYPE"),
        TestCase("string(/order/@id)", false, true, "ESB-XPT-TYPE"),
        TestCase("/order/@id = 'A'", true, true, "ESB-XPT-TYPE"),
        Property("Case", "XPT-04")
    ]
    public void An_expression_that_selects_no_nodes_cannot_be_demanded(string xpath, bool required, bool single, string code)
    {
        var errors = new ConfigErrors();

        var value = SomeContent
            .Compiler()
            .Compile(
                new ValueConfig
                {
                    Xpath = xpath,
                    Required = required,
                    Single = single,
                    Path = "somewhere",
                },
                errors
            );

        Assert.That(value, Is.Null);
        Assert.That((errors.All.Single().Code, errors.All.Single().Path), Is.EqualTo((code, "somewhere.xpath")));
    }

    [Test]
    public void Demands_that_mean_nothing_are_configuration_errors()
    {
        var errors = new ConfigErrors();
        var compiler = SomeContent.Compiler();

        compiler.Compile(
            new ValueConfig
            {
                Template = "{header.x}",
                Required = true,
                Path = "a",
            },
            errors
        );
        compiler.Compile(
            new ValueConfig
            {
                Header = "x",
                Single = true,
                Path = "b",
            },
            errors
        );
        compiler.Compile(
            new ConditionConfig
            {
                Not = new ConditionConfig { Header = "x" },
                Required = true,
                Single = true,
                Path = "c",
            },
            errors
        );

        Assert.That(
            errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(
                new[]
                {
                    ("ESB-CFG-VALUE", "a.required"),
                    ("ESB-CFG-VALUE", "b.single"),
                    ("ESB-CFG-VALUE", "c.required"),
                    ("ESB-CFG-VALUE", "c.single"),
                }
            )
        );
    }

    [Test, Property("Case", "XPT-05"), Property("Case", "XPT-06")]
    public void A_condition_on_what_is_missing_or_there_twice_refuses_the_message_where_it_is_told_to()
    {
        var type = new ConditionConfig
        {
            Xpath = "/order/type",
            EqualTo = SomeContent.Constant("rush"),
            Required = true,
            Single = true,
        };

        Assert.That(Holds(type, "<order><type>rush</type></order>"), Is.True);
        Assert.That(Holds(type, "<order><type>slow</type></order>"), Is.False);
        Assert.That(() => Holds(type, "<order/>"), Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-XPT-NOMATCH"));
        Assert.That(
            () => Holds(type, "<order><type>rush</type><type>slow</type></order>"),
            Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-XPT-MULTI")
        );
    }

    [
        TestCase("<order><type>false</type></order>", true),
        TestCase("<order><type/></order>", true),
        TestCase("<order/>", false),
        Property("Case", "XPT-06")
    ]
    public void A_condition_without_a_comparison_holds_where_its_one_node_is_whatever_its_text(string body, bool expected)
    {
        Assert.That(Holds(new ConditionConfig { Xpath = "/order/type", Single = true }, body), Is.EqualTo(expected));
    }

    private static bool Holds(ConditionConfig config, string body) =>
        SomeContent.Compiler().Compile(config, new ConfigErrors())!.Holds(Some.Context(body));

    private static object? Evaluate(ValueConfig config, string body) => Compile(config).Evaluate(Some.Context(body));

    private static EsbException Fail(ValueConfig config, EsbMessage message) =>
        Assert.Throws<EsbException>(() => Compile(config).Evaluate(Some.Context(message)))!;

    private static IMessageValue Compile(ValueConfig config)
    {
        var errors = new ConfigErrors();
        var value = SomeContent.Compiler().Compile(config, errors);
        Assert.That(errors.All, Is.Empty);
        return value!;
    }
}
