using System.Globalization;
using System.Text;
using Esb.Content.Expressions;
using Esb.Content.Xml;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Expressions;

public sealed class ValueTests
{
    private const string Order =
        "<order id='A-1'><customer>Blue Cafe</customer><line sku='T' quantity='2'/><line sku='C' "
        + "quantity='3'/><total>24.90</total><note/></order>";

    [TestCase("/order/@id", "A-1")]
    [TestCase("/order/customer", "Blue Cafe")]
    [TestCase("/order/line", "", TestName = "The first node of several")]
    [TestCase("/order/note", "", TestName = "An empty element is an empty text")]
    [TestCase("/order/missing", null)]
    [TestCase("count(/order/line)", 2.0)]
    [TestCase("sum(/order/line/@quantity)", 5.0)]
    [TestCase("/order/total > 20", true)]
    [TestCase("concat(/order/@id, '-', /order/total)", "A-1-24.90")]
    [TestCase("//line[2]/@sku", "C")]
    [Property("Case", "XPT-04")]
    public void An_XPath_gives_the_text_of_its_first_node_or_what_it_computes(string xpath, object? expected)
    {
        Assert.That(Evaluate(new ValueConfig { Xpath = xpath }, Order), Is.EqualTo(expected));
    }

    [Test]
    public void An_XPath_knows_the_prefixes_of_the_configuration()
    {
        var value = Compile(new ValueConfig { Xpath = "/o:order/@id" }, ("o", "urn:orders"));

        Assert.That(value.Evaluate(Some.Context("<x:order xmlns:x='urn:orders' id='7'/>")), Is.EqualTo("7"));
    }

    [TestCase("$.id", "A-1")]
    [TestCase("$.total", 24.9)]
    [TestCase("$.lines", "[{\"sku\":\"T\"}]")]
    [TestCase("$.isGift", false)]
    [TestCase("$.note", null)]
    [TestCase("$.missing", null)]
    [TestCase("$.lines[0].sku", "T")]
    public void A_JSONPath_gives_its_first_node(string jsonpath, object? expected)
    {
        var body = """{"id": "A-1", "total": 24.90, "lines": [{"sku":"T"}], "isGift": false, "note": null}""";

        Assert.That(Evaluate(new ValueConfig { Jsonpath = jsonpath }, body), Is.EqualTo(expected));
    }

    [TestCase("9007199254740993", "9007199254740993")]
    [TestCase("12345678901234567890123456789012345678", "12345678901234567890123456789012345678")]
    [TestCase("0.12345678901234567890", "0.12345678901234567890")]
    [TestCase("1e999", "1e999")]
    [TestCase("42", 42.0)]
    [TestCase("1e3", 1000.0)]
    [TestCase("0.10", 0.1)]
    [Property("Case", "JSN-06")]
    public void A_number_that_a_double_cannot_hold_stays_as_it_was_written(string number, object expected)
    {
        Assert.That(Evaluate(new ValueConfig { Jsonpath = "$" }, number), Is.EqualTo(expected));
    }

    [Test, Property("Case", "JSN-07")]
    public void Half_a_surrogate_pair_is_no_text()
    {
        Assert.That(
            () => Evaluate(new ValueConfig { Jsonpath = "$.a" }, """{"a": "\ud800"}"""),
            Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-JSON-ENCODING")
        );
    }

    [Test]
    public void A_body_of_the_other_kind_is_malformed_whatever_its_content_type()
    {
        var json = Some.Context(Some.Message("{}", contentType: "application/xml"));
        var xml = Some.Context(Some.Message("<a/>", contentType: "application/json"));

        var errors = new[]
        {
            Assert.Throws<EsbException>(() => Compile(new ValueConfig { Xpath = "/a" }).Evaluate(json)),
            Assert.Throws<EsbException>(() => Compile(new ValueConfig { Jsonpath = "$.a" }).Evaluate(xml)),
        };

        Assert.That(errors.Select(error => error!.Code), Is.EqualTo(new[] { "ESB-XML-SYNTAX", "ESB-JSON-SYNTAX" }));
        Assert.That(errors.Select(error => error!.Kind), Is.All.EqualTo(FaultKind.Malformed));
    }

    [Test]
    public void The_envelope_gives_its_parts_with_their_types()
    {
        var message = Some.Message("text", subject: "orders.new", key: "k", contentType: "text/plain") with { Party = "shop" };
        var context = Some.Context(message);
        object? Part(MessagePart part) => Compile(new ValueConfig { Message = part }).Evaluate(context);

        Assert.That(Part(MessagePart.Id), Is.EqualTo(message.Id).And.TypeOf<Guid>());
        Assert.That(Part(MessagePart.CreatedAt), Is.EqualTo(message.CreatedAt).And.TypeOf<DateTimeOffset>());
        Assert.That(
            new[] { MessagePart.Subject, MessagePart.Key, MessagePart.Body, MessagePart.ContentType, MessagePart.Party }.Select(Part),
            Is.EqualTo(new[] { "orders.new", "k", "text", "text/plain", "shop" })
        );
    }

    [Test]
    public void A_part_that_is_not_there_is_no_value(
        [Values(MessagePart.Subject, MessagePart.Key, MessagePart.ContentType, MessagePart.Party)] MessagePart part
    )
    {
        Assert.That(Compile(new ValueConfig { Message = part }).Evaluate(Some.Context()), Is.Null);
    }

    [TestCase("iso-8859-1", "text/plain; charset=ISO-8859-1")]
    [TestCase("iso-8859-1", "text/plain; charset=windows-1252")]
    [TestCase("utf-8", "text/plain; charset=utf8")]
    [TestCase("utf-16", "text/plain")]
    [TestCase("utf-8", "text/plain; charset")]
    [TestCase("utf-8", null)]
    public void The_body_is_text_by_its_mark_or_its_charset(string encodingName, string? contentType)
    {
        var encoding = Encoding.GetEncoding(encodingName);
        var message = Some.Message(contentType: contentType) with
        {
            Body = MessageBody.FromBytes((byte[])[.. encoding.GetPreamble(), .. encoding.GetBytes("Käse")]),
        };

        Assert.That(Compile(new ValueConfig { Message = MessagePart.Body }).Evaluate(Some.Context(message)), Is.EqualTo("Käse"));
    }

    [TestCase(null)]
    [TestCase("text/plain; charset=nonsense")]
    [TestCase("text/plain; charset=utf-7")]
    public void A_body_that_is_no_text_is_refused_rather_than_changed(string? contentType)
    {
        var message = Some.Message(contentType: contentType) with { Body = MessageBody.FromBytes((byte[])[0xE9]) };

        Assert.That(
            () => Compile(new ValueConfig { Message = MessagePart.Body }).Evaluate(Some.Context(message)),
            Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-BODY-ENCODING")
        );
    }

    [Test]
    public void Headers_and_properties_are_found_or_are_no_value()
    {
        var context = Some.Context(Some.Message() with { Headers = MessageHeaders.Empty.With("X-Order", "7") });
        context.SetProperty("status", 200);

        Assert.That(Compile(new ValueConfig { Header = "x-order" }).Evaluate(context), Is.EqualTo("7"));
        Assert.That(Compile(new ValueConfig { Property = "status" }).Evaluate(context), Is.EqualTo(200.0));
        Assert.That(Compile(new ValueConfig { Header = "x-none" }).Evaluate(context), Is.Null);
        Assert.That(Compile(new ValueConfig { Property = "Status" }).Evaluate(context), Is.Null, "names of properties are case-sensitive");
    }

    [TestCase("text", "text")]
    [TestCase(12.5, 12.5)]
    [TestCase(true, true)]
    public void A_constant_is_itself(object constant, object expected)
    {
        Assert.That(Evaluate(new ValueConfig { Value = SomeContent.Constant(constant) }, ""), Is.EqualTo(expected));
    }

    [Test]
    public void Only_what_reads_the_body_says_so()
    {
        Assert.That(Compile(new ValueConfig { Xpath = "/a" }).ReadsBody, Is.True);
        Assert.That(Compile(new ValueConfig { Jsonpath = "$" }).ReadsBody, Is.True);
        Assert.That(Compile(new ValueConfig { Message = MessagePart.Body }).ReadsBody, Is.True);
        Assert.That(Compile(new ValueConfig { Template = "{message.body}" }).ReadsBody, Is.True);
        Assert.That(Compile(new ValueConfig { Template = "{message.id}" }).ReadsBody, Is.False);
        Assert.That(Compile(new ValueConfig { Header = "x" }).ReadsBody, Is.False);
    }

    [Test, CancelAfter(30_000)]
    public void One_compiled_XPath_serves_many_threads()
    {
        var value = Compile(new ValueConfig { Xpath = "//line[position() = last()]/@sku" });

        Parallel.For(
            0,
            5_000,
            i =>
            {
                var sku = i.ToString(CultureInfo.InvariantCulture);
                Assert.That(value.Evaluate(Some.Context($"<order><line sku='0'/><line sku='{sku}'/></order>")), Is.EqualTo(sku));
            }
        );
    }

    [TestCase("/order[", "ESB-XPT-SYNTAX")]
    [TestCase("count(1, 2)", "ESB-XPT-SYNTAX")]
    [TestCase("/order/$x", "ESB-XPT-SYNTAX")]
    [TestCase("$x", "ESB-XPT-SYNTAX")]
    [TestCase("(1 + 1)//x", "ESB-XPT-SYNTAX")]
    [TestCase("/x:order", "ESB-XPT-NAMESPACE")]
    [TestCase("matches(/order, 'a')", "ESB-XPT-FUNCTION")]
    [TestCase("o:f(/order)", "ESB-XPT-FUNCTION")]
    [Property("Case", "XPT-01"), Property("Case", "XPT-02"), Property("Case", "XPT-03")]
    public void An_expression_that_cannot_work_is_a_configuration_error(string xpath, string code)
    {
        var errors = new ConfigErrors();

        var value = SomeContent.Compiler(("o", "urn:o")).Compile(new ValueConfig { Xpath = xpath, Path = "somewhere" }, errors);

        Assert.That(value, Is.Null);
        Assert.That(errors.All.Single().Code, Is.EqualTo(code));
        Assert.That(errors.All.Single().Path, Is.EqualTo("somewhere.xpath"));
        Assert.That(errors.All.Single().Value, Is.EqualTo($"\"{xpath}\""));
    }

    [TestCase("/order[{header.x-filter}]", "{header.x-filter}")]
    [TestCase("/order[@id = '{property.id}']", "{property.id}")]
    [TestCase("{message.body}", "{message.body}")]
    [Property("Case", "XPT-07")]
    public void An_expression_that_a_message_would_write_is_a_configuration_error(string xpath, string place)
    {
        var errors = new ConfigErrors();

        var value = SomeContent.Compiler().Compile(new ValueConfig { Xpath = xpath, Path = "somewhere" }, errors);

        Assert.That(value, Is.Null);
        Assert.That((errors.All.Single().Code, errors.All.Single().Path), Is.EqualTo(("ESB-XPT-DYNAMIC", "somewhere.xpath")));
        Assert.That(errors.All.Single().Expected, Does.Contain(place));
    }

    [TestCase("count(//*[count(//*)>1])")]
    [TestCase("count(//a[following::a[preceding::a]])")]
    [CancelAfter(30_000), Property("Case", "XPT-09")]
    public void An_expression_whose_cost_runs_away_is_ended(string xpath)
    {
        var limits = new XmlLimits { Characters = ByteSize.MiB(8).Bytes, ExpressionTime = TimeSpan.FromMilliseconds(200) };
        var compiler = new ExpressionCompiler(new Dictionary<string, string>(), new XmlInput(limits), TimeProvider.System);
        var value = compiler.Compile(new ValueConfig { Xpath = xpath }, new ConfigErrors())!;
        var context = Some.Context($"<r>{string.Concat(Enumerable.Repeat("<a/>", 5 * 1024 * 1024 / 4))}</r>");

        Assert.That(() => value.Evaluate(context), Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-XPT-TIMEOUT"));
    }

    [TestCase("$['$type']", "System.IO.FileInfo", "JSN-11")]
    [TestCase("$['__type']", "x", "JSN-11")]
    [TestCase("$['@class']", "java.lang.Runtime", "JSN-11")]
    [TestCase("$.__proto__.admin", true, "JSN-12")]
    [TestCase("$.constructor", "y", "JSN-12")]
    [TestCase("$.Id", "upper", "JSN-04")]
    [TestCase("$.id", "lower", "JSN-04")]
    [Property("Case", "JSN-04"), Property("Case", "JSN-11"), Property("Case", "JSN-12")]
    public void Names_that_mean_something_elsewhere_are_plain_data_and_told_apart_by_case(string jsonpath, object expected, string row)
    {
        var body = """
            {"$type": "System.IO.FileInfo", "__type": "x", "@class": "java.lang.Runtime", "__proto__": {"admin": true}, "constructor": "y", "Id": "upper", "id": "lower"}
            """;

        Assert.That(Evaluate(new ValueConfig { Jsonpath = jsonpath }, body), Is.EqualTo(expected), row);
    }

    [Test]
    public void A_broken_JSONPath_is_a_configuration_error()
    {
        var errors = new ConfigErrors();

        var value = SomeContent.Compiler().Compile(new ValueConfig { Jsonpath = "$.a[", Path = "somewhere" }, errors);

        Assert.That(value, Is.Null);
        Assert.That(errors.All.Single().Code, Is.EqualTo("ESB-JPT-SYNTAX"));
    }

    private static IMessageValue Compile(ValueConfig config, params (string, string)[] namespaces)
    {
        var errors = new ConfigErrors();
        var value = SomeContent.Compiler(namespaces).Compile(config, errors);
        Assert.That(errors.All, Is.Empty);
        return value!;
    }

    private static object? Evaluate(ValueConfig config, string body) => Compile(config).Evaluate(Some.Context(body));
}
