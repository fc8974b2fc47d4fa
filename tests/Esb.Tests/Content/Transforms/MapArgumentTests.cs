using Esb.Content.Transforms;
using Esb.Core.Errors;

namespace Esb.Tests.Content.Transforms;

/// <summary>What a map is told beside its message.</summary>
public sealed class MapArgumentTests
{
    private const string Plain = "<xsl:output omit-xml-declaration='yes'/>";

    [Test]
    public void Parameters_are_those_of_the_top_level_and_required_without_a_default()
    {
        var map = SomeMaps.Compile(
            """
            <xsl:param name="a"/><xsl:param name="b" select="''"/><xsl:param name="c">x</xsl:param><xsl:param name="n:d" xmlns:n="urn:n"/>
            <xsl:template match="/"><xsl:param name="e"/><x/></xsl:template>
            """
        );

        Assert.That(
            map.Parameters,
            Is.EqualTo(new[] { new MapParameter("a", true), new MapParameter("b", false), new MapParameter("c", false) })
        );
    }

    [Test, Property("Case", "XSL-13")]
    public void A_missing_parameter_without_a_default_is_named()
    {
        var map = SomeMaps.Compile(
            "<xsl:param name='region'/><xsl:template match='/'><a><xsl:value-of select='$region'/></a></xsl:template>"
        );

        var error = Assert.Throws<EsbException>(() => map.Transform(SomeContent.Body("<x/>")))!;

        Assert.That((error.Code, error.Kind), Is.EqualTo(("ESB-XSL-PARAM", FaultKind.Invalid)));
        Assert.That(error.Message, Does.Contain("'region'"));
    }

    [TestCase("<b>&amp;</b>"), TestCase("'quoted\" & <"), TestCase("]]>"), TestCase("document('x')")]
    [Property("Case", "XSL-14")]
    public void Markup_in_a_value_stays_text(string value)
    {
        var map = SomeMaps.Compile(
            "<xsl:output method='text'/><xsl:param name='p'/><xsl:template match='/'><xsl:value-of select='$p'/></xsl:template>"
        );

        Assert.That(map.Transform(SomeContent.Body("<x/>"), new MapArgument("p", value)).Body.ReadText(), Is.EqualTo(value));
    }

    [Test]
    public void Numbers_and_truth_values_keep_their_type()
    {
        var map = SomeMaps.Compile(
            "<xsl:output method='text'/><xsl:param name='n'/><xsl:param name='f'/><xsl:template match='/'><xsl:value-of select='$n "
                + "+ 1'/><xsl:if test='not($f)'> no</xsl:if></xsl:template>"
        );

        Assert.That(
            map.Transform(SomeContent.Body("<x/>"), new MapArgument("n", 41.5), new MapArgument("f", false)).Body.ReadText(),
            Is.EqualTo("42.5 no")
        );
    }

    [Test]
    public void Further_documents_are_searched_like_the_message_itself()
    {
        var map = SomeMaps.Compile(
            $"""
            {Plain}<xsl:param name="customers"/>
            <xsl:key name="by-id" match="customer" use="@id"/>
            <xsl:template match="/order"><order><xsl:value-of select="$customers/customers/customer[@id = current()/@customer]/name"/>, <xsl:for-each select="$customers"><xsl:value-of select="count(key('by-id', 'C2'))"/></xsl:for-each></order></xsl:template>
            """
        );
        var customers = SomeContent.Body(
            "<customers><customer id='C1'><name>Ann</name></customer><customer id='C2'><name>Bob</name></customer></customers>"
        );

        var made = map.Transform(SomeContent.Body("<order customer='C2'/>"), new MapArgument("customers", customers));

        Assert.That(made.Body.ReadText(), Is.EqualTo("<order>Bob, 1</order>"));
    }

    [Test]
    public void A_further_document_that_cannot_be_read_is_named()
    {
        var map = SomeMaps.Compile($"{Plain}<xsl:param name='other'/><xsl:template match='/'><a/></xsl:template>");

        var error = Assert.Throws<EsbException>(() =>
            map.Transform(SomeContent.Body("<x/>"), new MapArgument("other", SomeContent.Body("<!DOCTYPE a><a/>")))
        )!;

        Assert.That(error.Code, Is.EqualTo("ESB-XML-DTD"));
        Assert.That(error.Message, Does.StartWith("The input 'other' of the map test: "));
    }
}
