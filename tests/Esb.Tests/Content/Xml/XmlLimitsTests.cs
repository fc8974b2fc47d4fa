using Esb.Content.Transforms;
using Esb.Content.Xml;
using Esb.Content.Xml.Scanning;
using Esb.Core.Errors;

namespace Esb.Tests.Content.Xml;

/// <summary>The limits of XML as somebody configured them.</summary>
public sealed class XmlLimitsTests
{
    private const string Identity = """
        <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
          <xsl:output omit-xml-declaration="yes"/>
          <xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>
        </xsl:stylesheet>
        """;

    [TestCase("\"depth\": 3", "<a><b><c/></b></a>", "<a><b><c><d/></c></b></a>", "ESB-XML-DEPTH", "deeper than 3")]
    [TestCase("\"attributes\": 2", "<a x='1' y='2'/>", "<a x='1' y='2' z='3'/>", "ESB-XML-LIMIT", "more than 2 attributes")]
    [TestCase("\"attributeCharacters\": 5", "<a x='12345'/>", "<a x='123456'/>", "ESB-XML-LIMIT", "longer than 5 characters")]
    public void Document_is_taken_up_to_the_limit_and_refused_beyond(string limit, string within, string beyond, string code, string reason)
    {
        using var content = SomeContent.Configure($$"""{ "limits": { "xml": { {{limit}} } } }""");
        var xml = content.Get<XmlInput>();

        Assert.That(() => xml.Navigate(SomeContent.Body(within)), Throws.Nothing);
        var error = Assert.Throws<EsbException>(() => xml.Navigate(SomeContent.Body(beyond)))!;
        Assert.That(error.Code, Is.EqualTo(code));
        Assert.That(error.Message, Does.Contain(reason));
    }

    [TestCase("/order/type"), TestCase("/order[@big = 'x']/type"), TestCase("//type[1]"), Property("Case", "XML-09")]
    public void Attribute_that_is_too_long_is_refused_by_the_pass_also_where_nobody_asks_for_it(string xpath)
    {
        var paths = new PathSet(new XmlInput(new XmlLimits { AttributeCharacters = 100 }));
        var value = new ScanCompiler(paths, new Dictionary<string, string>()).CompileValue(xpath)!;

        Assert.That(
            value(paths.Scan(SomeContent.Body($"<order big='{new string('x', 100)}'><type>a</type></order>"))),
            xpath.Contains('@') ? Is.Null : Is.EqualTo("a")
        );
        var error = Assert.Throws<EsbException>(() =>
            value(paths.Scan(SomeContent.Body($"<order big='{new string('x', 101)}'><type>a</type></order>")))
        )!;
        Assert.That(error.Code, Is.EqualTo("ESB-XML-LIMIT"));
    }

    [Test]
    public void Time_of_an_expression_is_that_of_the_configuration()
    {
        using var content = SomeContent.Configure("""{ "limits": { "xml": { "expressionTime": "5s" } } }""");

        Assert.That(content.Get<XmlInput>().Limits.ExpressionTime, Is.EqualTo(TimeSpan.FromSeconds(5)));
    }

    [Test]
    public void Deepest_document_that_can_be_allowed_goes_through_a_map_that_recurs_through_it()
    {
        using var content = SomeContent.Configure(
            """{ "limits": { "xml": { "depth": 1000 } }, "maps": { "same": "same.xsl" } }""",
            ("same.xsl", Identity)
        );
        var document = string.Concat(Enumerable.Repeat("<a>", 1_000)) + "x" + string.Concat(Enumerable.Repeat("</a>", 1_000));

        var made = content.Get<IMapCatalog>().Find("same")!.Transform(SomeContent.Body(document));

        Assert.That(made.Body.ReadText(), Is.EqualTo(document));
    }

    [TestCase("\"depth\": 0"), TestCase("\"depth\": 1001"), TestCase("\"expressionTime\": \"2m\"")]
    public void Limit_that_would_be_none_is_refused(string limit)
    {
        using var content = SomeContent.Configure($$"""{ "limits": { "xml": { {{limit}} } } }""");

        Assert.That(content.Errors.Select(error => error.Code), Is.EqualTo(new[] { "ESB-CFG-RANGE" }));
    }
}
