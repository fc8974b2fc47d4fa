using Esb.Content.Formats.Conversion;
using Esb.Core.Errors;

namespace Esb.Tests.Content.Formats;

public sealed class ConversionTests
{
    private const string Csv = """{ "type": "csv", "columns": { "sku": "string", "qty": "integer" } }""";
    private const string Namespaces = """, "namespaces": { "o": "urn:orders" } """;

    [TestCase("<order id='1'><line>a</line><line>b</line><note/></order>", """{"order":{"@id":"1","line":["a","b"],"note":""}}""")]
    [TestCase("<p lang='de'>Guten <b>Tag</b>!</p>", """{"p":{"@lang":"de","b":"Tag","#text":"Guten !"}}""")]
    [TestCase("<a>\n  <b> x </b>\n  <!-- no --><?pi no?>\n</a>", """{"a":{"b":" x "}}""")]
    [TestCase("<a x='1'>t</a>", """{"a":{"@x":"1","#text":"t"}}""")]
    [TestCase("<q:order xmlns:q='urn:orders' xmlns='urn:other' q:id='1'><x/></q:order>", """{"o:order":{"@o:id":"1","x":""}}""")]
    [TestCase("<_x0031_st><![CDATA[<&>]]></_x0031_st>", """{"1st":"<&>"}""")]
    public void Xml_becomes_json(string xml, string json)
    {
        using var formats = SomeFormats.Of(Csv, Namespaces);

        Assert.That(formats.Convert(xml, "xml", "json"), Is.EqualTo(json));
    }

    [Test]
    public void Named_elements_are_arrays_even_if_they_occur_once()
    {
        using var formats = SomeFormats.Of(Csv);

        Assert.That(
            formats.Convert("<o><line>a</line></o>", "xml", "json", new ConversionOptions { Arrays = ["line"] }),
            Is.EqualTo("""{"o":{"line":["a"]}}""")
        );
    }

    [TestCase(
        """{"order":{"@id":1,"line":["a","b"],"note":null,"ok":true}}""",
        null,
        """<order id="1"><line>a</line><line>b</line><note /><ok>true</ok></order>"""
    )]
    [TestCase("""{"a":"1","b":"<&>"}""", "order", "<order><a>1</a><b>&lt;&amp;&gt;</b></order>")]
    [TestCase("""{"1st name":{"#text":"x","@a b":"y"}}""", null, """<_x0031_st_x0020_name a_x0020_b="y">x</_x0031_st_x0020_name>""")]
    [TestCase("""[[1,2.50],{"a":1}]""", "list", "<list><row><row>1</row><row>2.50</row></row><row><a>1</a></row></list>")]
    [TestCase("""{"o:order":{"o:line":"x"}}""", null, """<o:order xmlns:o="urn:orders"><o:line>x</o:line></o:order>""")]
    [TestCase("""{"x:order":""}""", null, "<x_x003A_order></x_x003A_order>")]
    [Property("Case", "JSN-16")]
    public void Json_becomes_xml(string json, string? root, string xml)
    {
        using var formats = SomeFormats.Of(Csv, Namespaces);

        Assert.That(
            formats.Convert(json, "json", "xml", new ConversionOptions { Root = root }),
            Is.EqualTo($"""<?xml version="1.0" encoding="utf-8"?>{xml}""")
        );
    }

    [TestCase("""{"a":1,"b":2}""", "ESB-CONVERT-ROOT"), TestCase("[1]", "ESB-CONVERT-ROOT"), TestCase("""{"a":[1]}""", "ESB-CONVERT-ROOT")]
    [
        TestCase("""{"a":"\u0001"}""", "ESB-CONVERT-VALUE"),
        TestCase("""{"a":{"@b":{}}}""", "ESB-CONVERT-VALUE"),
        TestCase("""{"a":{"":1}}""", "ESB-CONVERT-VALUE")
    ]
    [TestCase("""{"a":{"@xmlns":"x"}}""", "ESB-CONVERT-VALUE"), TestCase("""{"a":"1",}""", "ESB-JSON-SYNTAX")]
    public void Json_that_xml_cannot_hold_is_refused(string json, string code)
    {
        using var formats = SomeFormats.Of(Csv);

        Assert.That(Assert.Throws<EsbException>(() => formats.Convert(json, "json", "xml"))!.Code, Is.EqualTo(code));
    }

    [Test]
    public void Csv_becomes_xml_and_csv_again()
    {
        using var formats = SomeFormats.Of(Csv);
        const string Text = "sku,qty\r\nA-1,3\r\n\"B, 2\",10\r\n";
        const string Xml =
            """<?xml version="1.0" encoding="utf-8"?><f><row><sku>A-1</sku><qty>3</qty></row><row><sku>B, 2</sku><qty>10</qty></row></f>""";

        Assert.That(formats.Convert(Text, "f", "xml"), Is.EqualTo(Xml));
        Assert.That(formats.Convert(Xml, "xml", "f"), Is.EqualTo(Text));
        Assert.That(formats.Convert("<f><row><sku>A</sku><qty>1</qty></row></f>", "xml", "f"), Is.EqualTo("sku,qty\r\nA,1\r\n"), "one row");
        Assert.That(formats.Convert("<f/>", "xml", "f"), Is.EqualTo("sku,qty\r\n"), "no row");
    }

    [Test]
    public void Conversion_makes_at_most_four_times_the_largest_body()
    {
        using var formats = SomeFormats.Of("""{ "type": "csv" }""", """, "limits": { "maxBodySize": "1KiB" }""");

        var error = Assert.Throws<EsbException>(() => formats.ToJson($"{new string('x', 500)}\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-CONVERT-OUTPUT", FaultKind.Invalid)));
    }

    [
        TestCase("application/json; charset=utf-8", "<a/>", "json"),
        TestCase("application/hal+json", "", "json"),
        TestCase("text/xml", "{}", "xml")
    ]
    [TestCase("text/csv", "a,b", "f"), TestCase(null, " <a/>", "xml"), TestCase("text/plain", "[1]", "json")]
    public void Form_follows_from_the_content_type_or_else_from_the_first_byte(string? contentType, string body, string expected)
    {
        using var formats = SomeFormats.Of(Csv);

        Assert.That(formats.Converter.FormOf(SomeContent.Body(body), contentType), Is.EqualTo(expected));
    }

    [TestCase(null, "a,b"), TestCase("text/plain", "1"), TestCase("application/octet-stream", "")]
    public void Form_that_nothing_tells_is_refused(string? contentType, string body)
    {
        using var formats = SomeFormats.Of(Csv);

        Assert.That(
            Assert.Throws<EsbException>(() => formats.Converter.FormOf(SomeContent.Body(body), contentType))!.Code,
            Is.EqualTo("ESB-CONVERT-TYPE")
        );
    }
}
