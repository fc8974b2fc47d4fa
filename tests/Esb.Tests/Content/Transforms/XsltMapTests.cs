using Esb.Content.Schemas;
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
    [TestCase(
        "<xsl:template match='a'><i><xsl:apply-templates select='b'/></i></xsl:template><xsl:template "
            + "match='b'><i><xsl:apply-templates select='..'/></i></xsl:template>"
    )]
    [TestCase("<xsl:template match='/'><i><xsl:apply-templates select='/'/></i></xsl:template>")]
    [TestCase(
        "<xsl:template match='a'><i><xsl:for-each select='self::node()'><xsl:apply-templates "
            + "select='//b/..'/></xsl:for-each></i></xsl:template>"
    )]
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

        Assert.That(made.Body.ReadText(), Is.EqualTo($"<n>{new string('x', 1_000)}</n>"));
    }

    [Test, CancelAfter(30_000), Property("Case", "XSL-08")]
    public void Recursion_over_a_list_of_ten_thousand_completes_or_is_refused_by_its_depth()
    {
        var map = Map(
            """
            <xsl:output omit-xml-declaration="yes"/>
            <xsl:template match="/"><n><xsl:apply-templates select="l/i[1]"/></n></xsl:template>
            <xsl:template match="i"><xsl:value-of select="."/><xsl:apply-templates select="following-sibling::i[1]"/></xsl:template>
            """
        );
        var list = SomeContent.Body($"<l>{string.Concat(Enumerable.Repeat("<i>x</i>", 10_000))}</l>");

        try
        {
            Assert.That(map.Transform(list).Body.ReadText(), Is.EqualTo($"<n>{new string('x', 10_000)}</n>"));
        }
        catch (EsbException ex)
        {
            Assert.That(ex.Code, Is.EqualTo("ESB-XSL-DEPTH"));
        }
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

        var error = Refused(
            Map(body, new TransformLimits { OutputBytes = 100_000 }),
            $"<a>{string.Concat(Enumerable.Repeat("<b>text</b>", 500))}</a>"
        );

        Assert.That(error.Code, Is.EqualTo("ESB-XSL-OUTPUT"));
    }

    [Test, Property("Case", "XSL-12")]
    public void A_map_may_refuse_a_message_in_its_own_words()
    {
        var body =
            "<xsl:template match='/'><xsl:message>looking</xsl:message><xsl:message terminate='yes'>no customer in <xsl:value-of "
            + "select='name(*)'/></xsl:message></xsl:template>";

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

    [TestCase(
        "<xsl:template match='/'><a><xsl:for-each select='//i'><xsl:value-of select=\"count(//i[. = "
            + "current()])\"/></xsl:for-each></a></xsl:template>"
    )]
    [TestCase(
        "<xsl:template match='/'><a><xsl:apply-templates select='//i'/></a></xsl:template><xsl:template match='i'><xsl:value-of "
            + "select='count(//i)'/></xsl:template>"
    )]
    [TestCase(
        "<xsl:template match='/'><a><xsl:for-each select='l/i'><xsl:sort select='.'/><xsl:if test='count(preceding-sibling::i) mod "
            + "2 = 0'><b/></xsl:if></xsl:for-each></a></xsl:template>"
    )]
    [TestCase("<xsl:template match='/'><a><xsl:value-of select='count(//i[count(//i[. = 1]) = 0])'/></a></xsl:template>")]
    [TestCase(
        "<xsl:template match='/'><a><xsl:for-each select='/l/i'><xsl:for-each select='/l/i[@x = "
            + "current()/@c]'><b/></xsl:for-each></xsl:for-each></a></xsl:template>"
    )]
    [TestCase("<xsl:template match='i'><xsl:if test='../i[@x = current()/@c]'><b/></xsl:if></xsl:template>")]
    [TestCase(
        "<xsl:template match='/l'><xsl:apply-templates select='i'><xsl:sort "
            + "select='count(parent::l/i[@x])'/></xsl:apply-templates></xsl:template>"
    )]
    [TestCase(
        "<xsl:variable name='list' select='/l'/><xsl:template match='i'><xsl:if test='$list/i[@x = "
            + "current()/@c]'><b/></xsl:if></xsl:template>"
    )]
    [TestCase("<xsl:template match='/'><a><xsl:value-of select='count(/l/i[/l/i/@x])'/></a></xsl:template>")]
    [CancelAfter(60_000), Property("Case", "XSL-10")]
    public void A_search_through_all_for_each_of_many_ends_at_its_time_limit(string body)
    {
        var many = $"<l>{string.Concat(Enumerable.Repeat("<i/>", 100_000))}</l>";

        var error = Refused(Map(body, new TransformLimits { Time = TimeSpan.FromMilliseconds(200) }), many);

        Assert.That(error.Code, Is.EqualTo("ESB-XSL-TIMEOUT"));
    }

    [Test, CancelAfter(120_000), Property("Case", "XSL-19")]
    public void A_key_over_a_million_nodes_is_bounded_in_time_and_memory()
    {
        var map = Map(
            """
            <xsl:output omit-xml-declaration="yes"/>
            <xsl:key name="all" match="i" use="'one'"/>
            <xsl:template match="/"><n><xsl:value-of select="count(//i[generate-id() = generate-id(key('all', 'one')[1])])"/></n></xsl:template>
            """
        );
        var million = SomeContent.Body($"<l>{string.Concat(Enumerable.Repeat("<i/>", 1_000_000))}</l>");
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var started = TimeProvider.System.GetTimestamp();

        var made = map.Transform(million).Body.ReadText();

        Assert.That(made, Is.EqualTo("<n>1</n>"));
        Assert.That(GC.GetTotalMemory(forceFullCollection: false) - before, Is.LessThan(600L << 20), "a few hundred bytes for each node");
        Assert.That(TimeProvider.System.GetElapsedTime(started), Is.LessThan(TimeSpan.FromSeconds(60)));
    }

    [Test, Property("Case", "XSL-18")]
    public void A_division_by_zero_is_no_error_of_the_map_but_of_the_schema_behind_it()
    {
        using var content = SomeContent.Configure(
            """{ "maps": { "rate": "rate.xsl" }, "schemas": { "rate": "rate.xsd" } }""",
            (
                "rate.xsl",
                SomeMaps.Stylesheet(
                    "<xsl:template match='/'><rate><xsl:value-of select='order/total div order/count'/></rate></xsl:template>"
                )
            ),
            (
                "rate.xsd",
                """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="rate" type="xs:decimal"/></xs:schema>"""
            )
        );

        var made = content.Get<IMapCatalog>().Find("rate")!.Transform(SomeContent.Body("<order><total>0</total><count>0</count></order>"));
        var error = Assert.Throws<EsbException>(() =>
            content.Get<ISchemaCatalog>().Find("rate")!.Validate(Some.Message(made.Body.ReadText()))
        )!;

        Assert.That(made.Body.ReadText(), Does.Contain("<rate>NaN</rate>"));
        Assert.That(error.Code, Is.EqualTo("ESB-XML-SCHEMA"));
        Assert.That(error.Kind, Is.EqualTo(FaultKind.Invalid));
    }

    [Test, Property("Case", "XSL-15")]
    public void An_extension_that_a_stylesheet_asks_for_first_fails_only_when_it_is_called()
    {
        var map = Map(
            """
            <xsl:template match="/a" xmlns:x="urn:nobody">
              <xsl:choose><xsl:when test="function-available('x:f')"><yes/></xsl:when><xsl:otherwise><no/></xsl:otherwise></xsl:choose>
            </xsl:template>
            <xsl:template match="/b" xmlns:x="urn:nobody"><xsl:value-of select="x:f()"/></xsl:template>
            """
        );

        Assert.That(map.Transform(SomeContent.Body("<a/>")).Body.ReadText(), Does.Contain("<no"));
        Assert.That(Refused(map, "<b/>").Code, Is.EqualTo("ESB-XSL-EXTENSION"));
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

        Assert.That(
            map.Transform(SomeContent.Body("<?xml-stylesheet type='text/xsl' href='http://127.0.0.1:9/x.xsl'?><x/>")).Body.ReadText(),
            Is.EqualTo("<a />")
        );
    }

    [Test, CancelAfter(30_000)]
    public void One_compiled_map_serves_many_threads()
    {
        var map = Map("<xsl:output omit-xml-declaration='yes'/><xsl:template match='/'><a><xsl:value-of select='.'/></a></xsl:template>");

        Parallel.For(0, 4_000, i => Assert.That(map.Transform(SomeContent.Body($"<x>{i}</x>")).Body.ReadText(), Is.EqualTo($"<a>{i}</a>")));
    }

    private static XsltMap Map(string body, TransformLimits? limits = null) => SomeMaps.Compile(body, limits);

    private static EsbException Refused(XsltMap map, string document) =>
        Assert.Throws<EsbException>(() => map.Transform(SomeContent.Body(document)))!;
}
