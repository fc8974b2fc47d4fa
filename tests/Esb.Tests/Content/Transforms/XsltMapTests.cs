using Esb.Content.Transforms;
using Esb.Core.Errors;

namespace Esb.Tests.Content.Transforms;

/// <summary>What a map does with messages that it cannot transform, or not in reasonable bounds.</summary>
public sealed class XsltMapTests
{
    private const string Endless = """
        <xsl:template match="/"><a><xsl:call-template name="again"><xsl:with-param name="n" select="0"/></xsl:call-template></a></xsl:template>
        <xsl:template name="again"><xsl:param name="n"/><i><xsl:call-template name="again"><xsl:with-param name="n" select="$n + 1"/></xsl:call-template></i></xsl:template>
        """;

    [TestCase(Endless)]
    [TestCase("<xsl:template match='a'><i><xsl:apply-templates select='.'/></i></xsl:template>")]
    [TestCase("<xsl:template match='a'><i><xsl:apply-templates select='b'/></i></xsl:template><xsl:template match='b'><i><xsl:apply-templates select='..'/></i></xsl:template>")]
    [TestCase("<xsl:template match='/'><i><xsl:apply-templates select='/'/></i></xsl:template>")]
    [TestCase("<xsl:template match='a'><i><xsl:for-each select='self::node()'><xsl:apply-templates select='//b/..'/></xsl:for-each></i></xsl:template>")]
    [TestCase("<xsl:template match='a'><i><xsl:apply-templates select='b[1]|ancestor-or-self::a'/></i></xsl:template>")]
    [TestCase("<xsl:template match='a'><xsl:variable name='me' select='.'/><i><xsl:apply-templates select='$me'/></i></xsl:template>")]
    [CancelAfter(30_000), Property("Case", "XSL-07")]
    public void Recursion_without_end_is_an_error_and_not_the_end_of_the_host(string body)
    {
        var error = Refused(Map(body), "<a><b/></a>");

        Assert.That(error.Code, Is.EqualTo("ESB-XSL-DEPTH"));
        Assert.That(error.Kind, Is.EqualTo(FaultKind.Invalid));
    }

    [Test, CancelAfter(30_000), Property("Case", "XSL-08")]
    public void Recursion_over_a_long_list_completes()
    {
        var body = """
            <xsl:output omit-xml-declaration="yes"/>
            <xsl:template match="/"><n><xsl:apply-templates select="l/i[1]"/></n></xsl:template>
            <xsl:template match="i"><xsl:value-of select="."/><xsl:apply-templates select="following-sibling::i[1]"/></xsl:template>
            """;

        var made = Map(body).Transform(SomeContent.Body($"<l>{string.Concat(Enumerable.Repeat("<i>x</i>", 1_000))}</l>"));

        Assert.That(made.ReadText(), Is.EqualTo($"<n>{new string('x', 1_000)}</n>"));
    }

    [Test, CancelAfter(30_000), Property("Case", "XSL-10")]
    public void A_loop_that_uses_no_stack_ends_at_its_time_limit()
    {
        var body = """
            <xsl:template match="/"><xsl:call-template name="again"><xsl:with-param name="n" select="0"/></xsl:call-template></xsl:template>
            <xsl:template name="again"><xsl:param name="n"/><xsl:call-template name="again"><xsl:with-param name="n" select="$n + 1"/></xsl:call-template></xsl:template>
            """;

        var error = Refused(Map(body, new TransformLimits { Time = TimeSpan.FromMilliseconds(100) }), "<a/>");

        Assert.That(error.Code, Is.EqualTo("ESB-XSL-TIMEOUT"));
        Assert.That(error.Message, Does.Contain("0.1 s"));
        Assert.That(error.IsTransient, Is.False, "it would take as long again");
    }

    [Test, Property("Case", "XSL-11")]
    public void An_output_over_its_limit_is_refused()
    {
        var body = "<xsl:template match='/'><a><xsl:for-each select='//b'><xsl:copy-of select='//b'/></xsl:for-each></a></xsl:template>";

        var error = Refused(Map(body, new TransformLimits { OutputBytes = 100_000 }), $"<a>{string.Concat(Enumerable.Repeat("<b>text</b>", 500))}</a>");

        Assert.That(error.Code, Is.EqualTo("ESB-XSL-OUTPUT"));
    }

    [Test, Property("Case", "XSL-12")]
    public void A_map_may_refuse_a_message_in_its_own_words()
    {
        var body = "<xsl:template match='/'><xsl:message>looking</xsl:message><xsl:message terminate='yes'>no customer in <xsl:value-of select='name(*)'/></xsl:message></xsl:template>";

        var error = Refused(Map(body), "<order/>");

        Assert.That(error.Code, Is.EqualTo("ESB-XSL-TERMINATED"));
        Assert.That(error.Kind, Is.EqualTo(FaultKind.Invalid));
        Assert.That(error.Message, Does.Contain("no customer in order"));
    }

    [Test, Property("Case", "XSL-12")]
    public void What_a_map_says_at_its_end_is_clipped()
    {
        var body = $"<xsl:template match='/'><xsl:message terminate='yes'>{new string('x', 1_000)}</xsl:message></xsl:template>";

        Assert.That(Refused(Map(body), "<a/>").Message, Does.Contain(new string('x', 500) + "…").And.Not.Contain(new string('x', 501)));
    }

    [Test]
    public void A_map_that_only_says_something_goes_on_and_the_console_stays_silent()
    {
        var console = Console.Out;
        using var written = new StringWriter();
        Console.SetOut(written);
        try
        {
            Map("<xsl:template match='/'><xsl:message>hello</xsl:message><a/></xsl:template>").Transform(SomeContent.Body("<x/>"));
        }
        finally
        {
            Console.SetOut(console);
        }

        Assert.That(written.ToString(), Is.Empty);
    }

    [TestCase("<xsl:element name='{name(*)} x'/>")]
    [TestCase("<xsl:value-of xmlns:x='urn:nobody' select='x:function()'/>")]
    [TestCase("<a><b/><xsl:attribute name='late'>x</xsl:attribute></a>")]
    public void Any_other_failure_is_an_error_of_the_map(string body)
    {
        var error = Refused(Map($"<xsl:template match='/'>{body}</xsl:template>"), "<a/>");

        Assert.That(error.Code, Is.EqualTo("ESB-XSL-FAILED"));
        Assert.That(error.Kind, Is.EqualTo(FaultKind.Invalid));
        Assert.That(error.Message, Does.StartWith("The map test failed: "));
    }

    [TestCase("")]
    [TestCase("<xsl:strip-space elements='*'/>")]
    public void A_body_that_is_no_XML_is_malformed(string body)
    {
        Assert.That(Refused(Map(body), "{}").Code, Is.EqualTo("ESB-XML-SYNTAX"));
        Assert.That(Refused(Map(body), "<!DOCTYPE a><a/>").Code, Is.EqualTo("ESB-XML-DTD"));
    }

    [Test, Property("Case", "XML-18")]
    public void A_stylesheet_that_a_document_names_is_not_followed()
    {
        var map = Map("<xsl:output omit-xml-declaration='yes'/><xsl:template match='/'><a/></xsl:template>");

        Assert.That(map.Transform(SomeContent.Body("<?xml-stylesheet type='text/xsl' href='http://127.0.0.1:9/x.xsl'?><x/>")).ReadText(), Is.EqualTo("<a />"));
    }

    [Test, CancelAfter(20_000)]
    public void One_compiled_map_serves_many_threads()
    {
        var map = Map("<xsl:output omit-xml-declaration='yes'/><xsl:template match='/'><a><xsl:value-of select='.'/></a></xsl:template>");

        Parallel.For(0, 4_000, i => Assert.That(map.Transform(SomeContent.Body($"<x>{i}</x>")).ReadText(), Is.EqualTo($"<a>{i}</a>")));
    }

    private static XsltMap Map(string body, TransformLimits? limits = null)
    {
        var path = Path.GetTempFileName();
        try
        {
            File.WriteAllText(path, MapCatalogTests.Stylesheet(body));
            return new XsltMap("test", StylesheetFiles.Read(path), StylesheetCache.Shared, SomeContent.Xml, limits ?? new TransformLimits(), TimeProvider.System);
        }
        finally
        {
            File.Delete(path);
        }
    }

    private static EsbException Refused(XsltMap map, string document) => Assert.Throws<EsbException>(() => map.Transform(SomeContent.Body(document)))!;
}
