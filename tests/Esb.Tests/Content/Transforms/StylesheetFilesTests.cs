using Esb.Content.Transforms;

namespace Esb.Tests.Content.Transforms;

/// <summary>Which maps are run with their moves counted, which makes them slower.</summary>
public sealed class StylesheetFilesTests
{
    [TestCase(
        "<xsl:template match='/'><a id='{/d/@id}'><xsl:for-each select='/d/o[1]'><xsl:value-of "
            + "select='c/@id'/></xsl:for-each></a></xsl:template>",
        false
    )]
    [TestCase("<xsl:template match='/p:d'><xsl:value-of select='/p:d/o'/></xsl:template>", false)]
    [TestCase(
        "<xsl:template match='/d/o | o//c'><xsl:value-of select='../@id'/><xsl:value-of select='$n'/></xsl:template>",
        true,
        TestName = "A pattern with // has always counted"
    )]
    [TestCase(
        "<xsl:template match='/d/o'><xsl:value-of select='../@id'/><xsl:value-of select='$n'/><xsl:value-of "
            + "select='$n/@id'/></xsl:template>",
        false
    )]
    [TestCase(
        "<xsl:variable name='head' select='/d/head'/><xsl:template match='o'><xsl:value-of select=\"concat('/d/', "
            + "$head)\"/></xsl:template>",
        false
    )]
    [TestCase("<xsl:template match='/'><xsl:for-each select='/d/o'><xsl:value-of select='/d/c'/></xsl:for-each></xsl:template>", true)]
    [TestCase("<xsl:template match='o'><a id='{../head/@id}'/></xsl:template>", true)]
    [TestCase("<xsl:template name='o'><xsl:value-of select='$list[@id = 1]'/></xsl:template>", true)]
    public void Moves_count_where_an_expression_leads_away_for_each_of_many_nodes(string templates, bool expected)
    {
        Assert.That(SomeMaps.Read(SomeMaps.Stylesheet(templates)).Sweeps, Is.EqualTo(expected));
    }

    [TestCase("samples", "orders/maps/legacy-to-order.xsl")]
    [TestCase("samples", "mediation/maps/reverse.xsl")]
    public void Moves_of_the_samples_do_not_count(string folder, string file)
    {
        Assert.That(StylesheetFiles.Read(Path.Combine(SomeContent.RepositoryFolder(folder), file)).Sweeps, Is.False);
    }
}
