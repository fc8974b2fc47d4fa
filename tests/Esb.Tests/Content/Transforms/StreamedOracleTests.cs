using System.Text;
using Esb.Content.Transforms;
using Esb.Content.Transforms.Streaming;
using Esb.Content.Xml;
using Esb.Core.Errors;

namespace Esb.Tests.Content.Transforms;

/// <summary>Maps that are streamed make what the engine makes, byte for byte, over generated stylesheets and documents.</summary>
public sealed class StreamedOracleTests
{
    private const int Stylesheets = 60;
    private const int DocumentsEach = 25;

    [Test, CancelAfter(120_000)]
    public void Streamed_output_is_the_engines_output([Range(1, 4)] int seed)
    {
        var random = new Random(seed);
        var streamed = 0;
        for (var found = 0; found < Stylesheets; )
        {
            var stylesheet = new SomeStylesheet(random).Text;
            if (StreamedCompiler.TryCompile(SomeMaps.Read(stylesheet)) is not { } compiled)
                continue;
            found++;
            var engine = SomeMaps.CompileText(stylesheet);
            var stream = new StreamedMap(compiled, SomeContent.Xml, new TransformLimits(), TimeProvider.System);
            for (var i = 0; i < DocumentsEach; i++)
                streamed += Compare(stream, engine, new SomeMarkup(random).Text, stylesheet);
        }

        Assert.That(streamed, Is.GreaterThan(Stylesheets * DocumentsEach / 2), "what is left to the engine proves nothing");
    }

    [TestCase("orders/maps/legacy-to-order.xsl", false)]
    [TestCase("mediation/maps/reverse.xsl", true)]
    public void The_samples_maps_are_streamed_where_they_only_rename(string file, bool expected)
    {
        var files = StylesheetFiles.Read(Path.Combine(SomeContent.RepositoryFolder("samples"), file));

        Assert.That(StreamedCompiler.TryCompile(files) is not null, Is.EqualTo(expected));
    }

    [TestCase("<a x='1'>t<b/></a>")]
    [TestCase("<a>\r\n<b>1&#13;2</b></a>")]
    [TestCase("<?xml version='1.0' encoding='utf-16'?><a/>")]
    [TestCase("<a><![CDATA[]]><b><![CDATA[<x>]]>y</b></a>")]
    [TestCase("<!-- c --><?p i?> <a/> <!-- d -->")]
    [TestCase("<a xmlns='urn:1'><b xmlns=''/><c xmlns='urn:2' xmlns:p='urn:2'><p:d/></c></a>")]
    [TestCase("<a>&lt;&gt;&amp;&quot;&apos;&#x1F600;é&#9;&#10;</a>")]
    [TestCase("<a b='&lt;&gt;&amp;&quot;&apos;&#x1F600;é&#9;&#10;&#13;'/>")]
    [TestCase("<HTML/>")]
    [TestCase("<a><b></a>")]
    [TestCase("")]
    public void Documents_with_a_catch_come_out_as_the_engine_writes_them(string document)
    {
        var stylesheet = SomeMaps.Stylesheet(SomeMaps.Identity);
        var stream = new StreamedMap(
            StreamedCompiler.TryCompile(SomeMaps.Read(stylesheet))!,
            SomeContent.Xml,
            new TransformLimits(),
            TimeProvider.System
        );

        Compare(stream, SomeMaps.CompileText(stylesheet), document, stylesheet);
    }

    [TestCase(
        "<xsl:template match='a'><r><xsl:apply-templates/><m><xsl:apply-templates select='@*'/></m></r></xsl:template><xsl:template "
            + "match='@*'><xsl:copy/></xsl:template>",
        TestName = "Attributes behind the children"
    )]
    [TestCase(
        "<xsl:template match='a' xmlns:t='urn:t'><r xmlns:s='urn:s'><xsl:apply-templates/></r></xsl:template>",
        TestName = "A template with a namespace of its own"
    )]
    public void Map_makes_what_the_engine_makes(string templates)
    {
        var map = SomeMaps.CompileText(
            $"<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:p='urn:p' "
                + $"xmlns:q='urn:q'>{templates}</xsl:stylesheet>"
        );
        var body = SomeContent.Body("<a id='7'>t</a>");

        Assert.That(map.Transform(body).Body.ReadText(), Is.EqualTo(map.ByTheEngine(body).Body.ReadText()));
    }

    [Test]
    public void What_is_left_to_the_engine_in_the_middle_of_a_message_is_made_by_it_from_the_start()
    {
        var map = SomeMaps.Compile(SomeMaps.Identity);

        Assert.That(map.Transform(SomeContent.Body("<html><br/></html>")).Body.ReadText(), Does.EndWith("<html><br></html>"));
    }

    [Test]
    public void A_streamed_map_ends_after_the_time_of_the_engine()
    {
        var time = new HurryingTime();
        var map = new StreamedMap(
            StreamedCompiler.TryCompile(SomeMaps.Read(SomeMaps.Stylesheet(SomeMaps.Identity)))!,
            SomeContent.Xml,
            new TransformLimits(),
            time
        );
        var document = Encoding.UTF8.GetBytes($"<a>{string.Concat(Enumerable.Repeat("<b/>", 10_000))}</a>");

        Assert.That(() => map.TryTransform(document), Throws.InstanceOf<EsbException>().With.Property("Code").EqualTo("ESB-XPT-TIMEOUT"));
    }

    [Test]
    public void Namespaces_in_scope_cost_a_streamed_map_nothing_at_elements_that_declare_none_of_them()
    {
        var xml = new XmlInput(new XmlLimits { Namespaces = 10_000 });
        var map = new StreamedMap(
            StreamedCompiler.TryCompile(SomeMaps.Read(SomeMaps.Stylesheet(SomeMaps.Identity)))!,
            xml,
            new TransformLimits(),
            TimeProvider.System
        );
        var declared = string.Concat(Enumerable.Range(0, 5_000).Select(i => $" xmlns:p{i}='u{i}'"));
        var document = $"<r{declared}>{string.Concat(Enumerable.Repeat("<p1:a xmlns:p1='c'><p1:b/></p1:a>", 500))}</r>";

        var made = map.TryTransform(Encoding.UTF8.GetBytes(document));

        Assert.That(
            Encoding.UTF8.GetString(made!),
            Does.EndWith(document.Replace('\'', '"').Replace("/>", " />", StringComparison.Ordinal)[^2_000..])
        );
    }

    private sealed class HurryingTime : TimeProvider
    {
        private long _seconds;

        public override long TimestampFrequency => 1;

        public override long GetTimestamp() => _seconds += 31;
    }

    [Test]
    public void A_streamed_output_over_its_limit_is_refused()
    {
        var map = SomeMaps.Compile(
            $"{SomeMaps.Identity}<xsl:template match='b'><long-name><xsl:apply-templates/></long-name></xsl:template>",
            new TransformLimits { OutputBytes = 1_000 }
        );

        var error = Assert.Throws<EsbException>(() =>
            map.Transform(SomeContent.Body($"<a>{string.Concat(Enumerable.Repeat("<b/>", 200))}</a>"))
        )!;

        Assert.That(error.Code, Is.EqualTo("ESB-XSL-OUTPUT"));
    }

    // 1 where it was streamed.
    private static int Compare(StreamedMap stream, XsltMap engine, string document, string stylesheet)
    {
        var body = SomeContent.Body(document);
        if (Outcome(() => stream.TryTransform(body.Bytes)) is not { } streamed)
            return 0;

        Assert.That(streamed, Is.EqualTo(Outcome(() => engine.ByTheEngine(body).Body.Bytes.ToArray())), $"{stylesheet}\n{document}");
        return 1;
    }

    private static string? Outcome(Func<byte[]?> transform)
    {
        try
        {
            return transform() is { } made ? Encoding.Latin1.GetString(made) : null;
        }
        catch (EsbException ex)
        {
            return $"{ex.Code} {ex.Message}";
        }
    }
}
