using System.Text;
using System.Xml;
using System.Xml.Xsl;
using Esb.Content.Transforms;

namespace Esb.Tests.Content.Transforms;

public sealed class MapCatalogTests
{
    private const string OneMap = """{ "maps": { "map": "maps/map.xsl" } }""";

    [Test]
    public void The_output_is_what_the_engine_gives_without_a_byte_order_mark(
        [Values(
            """<xsl:output method="xml" encoding="utf-8"/>""",
            """<xsl:output method="xml" indent="yes" omit-xml-declaration="yes"/>""",
            """<xsl:output method="xml" standalone="yes" doctype-system="a.dtd" cdata-section-elements="b"/>""",
            """<xsl:output method="html"/>""",
            """<xsl:output method="text"/>""",
            """<xsl:strip-space elements="*"/>""",
            ""
        )]
            string output,
        [Values(
            "<a> <b x='1'>é &lt; €</b>\n<!-- note --><?pi x?><br/></a>",
            "<html><head><title>T</title></head><body>é<br/></body></html>"
        )]
            string document
    )
    {
        var stylesheet = SomeMaps.Stylesheet($"{output}{SomeMaps.Identity}");
        using var content = SomeContent.Configure(OneMap, ("maps/map.xsl", stylesheet));

        var made = Find(content).Transform(SomeContent.Body(document));

        var expected = ByTheEngine(stylesheet, document);
        Assert.That(made.Body.Bytes.ToArray(), Is.EqualTo(expected.AsSpan().StartsWith(Encoding.UTF8.Preamble) ? expected[3..] : expected));
    }

    [TestCase("utf-16")]
    [TestCase("iso-8859-1")]
    [TestCase("us-ascii")]
    public void Another_encoding_is_respected(string encoding)
    {
        var stylesheet = SomeMaps.Stylesheet($"""<xsl:output encoding="{encoding}"/>{SomeMaps.Identity}""");
        using var content = SomeContent.Configure(OneMap, ("maps/map.xsl", stylesheet));

        var made = Find(content).Transform(SomeContent.Body("<a>é€</a>"));

        Assert.That(made.Body.Bytes.ToArray(), Is.EqualTo(ByTheEngine(stylesheet, "<a>é€</a>")));
        Assert.That(made.ContentType, Is.EqualTo($"application/xml; charset={encoding}"));
    }

    [Test]
    public void White_space_in_the_stylesheet_is_treated_as_the_engine_does()
    {
        var stylesheet = SomeMaps.Stylesheet(
            """
            <xsl:template match="/">
              <a>
                <xsl:text> </xsl:text><b xml:space="preserve"> <c/> </b>
                <![CDATA[ x ]]>&#160;<xsl:call-template name="n"><xsl:with-param name="p" select="'v'"/></xsl:call-template>
              </a>
            </xsl:template>
            <xsl:template name="n">
              <xsl:param name="p"/>
              <xsl:attribute name="late">x</xsl:attribute>
              <xsl:value-of select="$p"/>
            </xsl:template>
            """.Replace("<xsl:attribute name=\"late\">x</xsl:attribute>", "")
        );
        using var content = SomeContent.Configure(OneMap, ("maps/map.xsl", stylesheet));

        var made = Find(content).Transform(SomeContent.Body("<x/>"));

        Assert.That(made.Body.ReadText(), Is.EqualTo(Encoding.UTF8.GetString(ByTheEngine(stylesheet, "<x/>")[3..])));
    }

    [Test]
    public void A_called_template_may_make_attributes_of_its_callers_element()
    {
        using var content = SomeContent.Configure(
            OneMap,
            (
                "maps/map.xsl",
                SomeMaps.Stylesheet(
                    """
                    <xsl:output omit-xml-declaration="yes"/>
                    <xsl:template match="/"><a><xsl:call-template name="id"/></a></xsl:template>
                    <xsl:template name="id"><xsl:attribute name="id">7</xsl:attribute></xsl:template>
                    """
                )
            )
        );

        Assert.That(Find(content).Transform(SomeContent.Body("<x/>")).Body.ReadText(), Is.EqualTo("<a id=\"7\" />"));
    }

    [TestCase("", "application/xml; charset=utf-8")]
    [TestCase("<xsl:output method='text'/>", "text/plain; charset=utf-8")]
    [TestCase("<xsl:output method='html'/>", "text/html; charset=utf-8")]
    [TestCase("<xsl:output method='text' media-type='application/json'/>", "application/json; charset=utf-8")]
    public void The_content_type_follows_the_output(string output, string expected)
    {
        using var content = SomeContent.Configure(OneMap, ("maps/map.xsl", SomeMaps.Stylesheet(output)));

        Assert.That(Find(content).Transform(SomeContent.Body("<a/>")).ContentType, Is.EqualTo(expected));
    }

    [Test]
    public void A_map_includes_and_imports_what_stands_beside_or_below_it()
    {
        using var content = SomeContent.Configure(
            OneMap,
            (
                "maps/map.xsl",
                SomeMaps.Stylesheet(
                    """<xsl:import href="parts/base.xsl"/><xsl:include href="parts/more.xsl"/><xsl:template match="b"><B/></xsl:template>"""
                )
            ),
            (
                "maps/parts/base.xsl",
                SomeMaps.Stylesheet(
                    $"""<xsl:import href="../deep.xsl"/>{SomeMaps.Identity}<xsl:template match="b"><never/></xsl:template>"""
                )
            ),
            ("maps/parts/more.xsl", SomeMaps.Stylesheet("""<xsl:template match="c"><C/></xsl:template>""")),
            ("maps/deep.xsl", SomeMaps.Stylesheet("<xsl:output omit-xml-declaration='yes'/>"))
        );

        Assert.That(content.Errors, Is.Empty);
        Assert.That(Find(content).Transform(SomeContent.Body("<a><b/><c/></a>")).Body.ReadText(), Is.EqualTo("<a><B /><C /></a>"));
    }

    [TestCase("<xsl:template match='/'><xsl:value-of select='foo()'/></xsl:template>", "ESB-XSL-COMPILE", "foo()")]
    [TestCase("<xsl:template match='/'><xsl:call-template name='none'/></xsl:template>", "ESB-XSL-COMPILE", "none")]
    [TestCase("<xsl:template match='/'>", "ESB-XSL-COMPILE", "line 2")]
    [TestCase(
        "<ms:script xmlns:ms='urn:schemas-microsoft-com:xslt' implements-prefix='ms'>int f() { return 1; }</ms:script>",
        "ESB-XSL-SCRIPT",
        "not supported"
    )]
    [TestCase("<xsl:variable name='x' select=\"document('other.xml')\"/>", "ESB-XSL-DOCUMENT", "document()")]
    [TestCase("<xsl:template match='/'><a b='{document ( @href )}'/></xsl:template>", "ESB-XSL-DOCUMENT", "document()")]
    [TestCase(
        "<xsl:template match='/' xmlns:x='urn:nobody'><xsl:value-of select=\"x:f('document(')\"/></xsl:template>",
        "ESB-XSL-EXTENSION",
        "x:f()"
    )]
    [TestCase(
        "<xsl:template match='/'><xsl:for-each-group select='//a' group-by='b'/></xsl:template>",
        "ESB-XSL-VERSION",
        "xsl:for-each-group is of a later version"
    )]
    [TestCase(
        "<xsl:template match='/'><xsl:value-of select=\"tokenize('a,b', ',')\"/></xsl:template>",
        "ESB-XSL-VERSION",
        "tokenize() is of a later version"
    )]
    [TestCase("<xsl:include href='../other.xsl'/>", "ESB-XSL-RESOLVE", "'../other.xsl' is not allowed")]
    [TestCase("<xsl:import href='http://127.0.0.1:9/x.xsl'/>", "ESB-XSL-RESOLVE", "is not allowed")]
    [TestCase("<xsl:import href='/etc/x.xsl'/>", "ESB-XSL-RESOLVE", "is not allowed")]
    [TestCase("<xsl:import href='\\\\server\\x.xsl'/>", "ESB-XSL-RESOLVE", "is not allowed")]
    [TestCase("<xsl:include href='file:x'/>", "ESB-XSL-RESOLVE", "'file:x' is not allowed")]
    [TestCase("<xsl:import href='http:x'/>", "ESB-XSL-RESOLVE", "'http:x' is not allowed")]
    [TestCase("<xsl:import href='missing.xsl'/>", "ESB-XSL-RESOLVE", "there is no file missing.xsl")]
    [TestCase("<xsl:import href='map.xsl'/>", "ESB-XSL-CYCLE", "map.xsl → map.xsl")]
    [TestCase(
        "<xsl:template match='/'><xsl:for-each select='//a'><xsl:sort case-order='upper-first'/></xsl:for-each></xsl:template>",
        "ESB-XSL-COMPILE",
        "case-order"
    )]
    [TestCase(
        "<xsl:template match='/'><xsl:for-each select='//a'><xsl:sort case-order='lower-first'/></xsl:for-each></xsl:template>",
        "ESB-XSL-COMPILE",
        "case-order"
    )]
    [
        Property("Case", "XSL-01"),
        Property("Case", "XSL-02"),
        Property("Case", "XSL-03"),
        Property("Case", "XSL-04"),
        Property("Case", "XSL-05"),
        Property("Case", "XSL-06"),
        Property("Case", "XSL-15")
    ]
    public void A_map_that_cannot_work_is_a_configuration_error_with_its_place(string body, string code, string expected)
    {
        using var content = SomeContent.Configure(OneMap, ("maps/map.xsl", SomeMaps.Stylesheet($"\n{body}")));

        var error = content.Errors.Single();

        Assert.That(error.Code, Is.EqualTo(code));
        Assert.That(error.Path, Is.EqualTo("maps.map"));
        Assert.That(error.Expected, Does.StartWith($"maps{Path.DirectorySeparatorChar}map.xsl, line 2, column ").And.Contain(expected));
        Assert.That(content.Get<IMapCatalog>().Find("map"), Is.Null);
    }

    [Test]
    public void An_error_in_an_included_file_names_that_file()
    {
        using var content = SomeContent.Configure(
            OneMap,
            ("maps/map.xsl", SomeMaps.Stylesheet("<xsl:include href='part.xsl'/>")),
            ("maps/part.xsl", SomeMaps.Stylesheet("\n\n<xsl:template match='/'><xsl:value-of select='('/></xsl:template>"))
        );

        Assert.That(content.Errors.Single().Expected, Does.StartWith($"maps{Path.DirectorySeparatorChar}part.xsl, line 3"));
    }

    [Test, Property("Case", "XSL-06")]
    public void A_later_version_of_the_language_is_refused()
    {
        using var content = SomeContent.Configure(
            OneMap,
            ("maps/map.xsl", SomeMaps.Stylesheet("").Replace("version=\"1.0\"", "version=\"2.0\""))
        );

        Assert.That(content.Errors.Single().Code, Is.EqualTo("ESB-XSL-VERSION"));
        Assert.That(content.Errors.Single().Expected, Does.Contain("the engine is XSLT 1.0, the stylesheet wants 2.0"));
    }

    [Test]
    public void The_word_document_alone_is_no_function()
    {
        var body =
            """<xsl:template match="document"><a title="a document (1)"><xsl:value-of select="concat('document(', my-document/x)"/></a></xsl:template>""";
        using var content = SomeContent.Configure(OneMap, ("maps/map.xsl", SomeMaps.Stylesheet(body)));

        Assert.That(content.Errors, Is.Empty);
    }

    [Test]
    public void Missing_files_and_JSON_maps_are_configuration_errors_all_at_once()
    {
        using var content = SomeContent.Configure("""{ "maps": { "a": "a.xsl", "b": { "file": "b.json" } } }""", ("b.json", "{}"));

        Assert.That(
            content.Errors.Select(error => (error.Code, error.Path)),
            Is.EquivalentTo(new[] { ("ESB-CFG-NOTFOUND", "maps.a"), ("ESB-CFG-UNAVAILABLE", "maps.b") })
        );
    }

    [Test, CancelAfter(60_000), Property("Case", "XSL-09")]
    public void Thousands_of_branches_compile()
    {
        var branches = string.Concat(
            Enumerable.Range(0, 3_000).Select(i => $"<xsl:when test=\"/a = '{i}'\"><b><xsl:value-of select='{i}'/></b></xsl:when>")
        );
        using var content = SomeContent.Configure(
            OneMap,
            (
                "maps/map.xsl",
                SomeMaps.Stylesheet(
                    $"<xsl:output omit-xml-declaration='yes'/><xsl:template match='/'><xsl:choose>{branches}</xsl:choose></xsl:template>"
                )
            )
        );

        Assert.That(content.Errors, Is.Empty);
        Assert.That(Find(content).Transform(SomeContent.Body("<a>2999</a>")).Body.ReadText(), Is.EqualTo("<b>2999</b>"));
    }

    [Test]
    public void A_map_that_runs_compiles_nothing()
    {
        var cache = new StylesheetCache();
        var map = SomeMaps.Compile(SomeMaps.Read(SomeMaps.Stylesheet(SomeMaps.Identity)), cache: cache);

        for (var i = 0; i < 100; i++)
            map.Transform(SomeContent.Body($"<a>{i}</a>"));

        Assert.That(cache.Compilations, Is.EqualTo(1));
    }

    [Test]
    public void A_stylesheet_is_compiled_once_however_often_it_is_configured()
    {
        var folder = Directory.CreateTempSubdirectory("esb-");
        var path = Path.Combine(folder.FullName, "map.xsl");
        var cache = new StylesheetCache();
        try
        {
            File.WriteAllText(path, SomeMaps.Stylesheet("<xsl:include href='part.xsl'/>"));
            File.WriteAllText(Path.Combine(folder.FullName, "part.xsl"), SomeMaps.Stylesheet(""));
            var first = cache.Compile(StylesheetFiles.Read(path));
            var second = cache.Compile(StylesheetFiles.Read(path));
            File.WriteAllText(Path.Combine(folder.FullName, "part.xsl"), SomeMaps.Stylesheet(SomeMaps.Identity));
            var third = cache.Compile(StylesheetFiles.Read(path));

            Assert.That(second, Is.SameAs(first));
            Assert.That(third, Is.Not.SameAs(first), "an included file has changed");
            Assert.That(cache.Compilations, Is.EqualTo(2));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static IMessageMap Find(ConfiguredContent content) => content.Get<IMapCatalog>().Find("map")!;

    private static byte[] ByTheEngine(string stylesheet, string document)
    {
        var transform = new XslCompiledTransform();
        using var reader = XmlReader.Create(new StringReader(stylesheet));
        transform.Load(reader);
        using var input = XmlReader.Create(new StringReader(document));
        using var output = new MemoryStream();
        transform.Transform(input, null, output);
        return output.ToArray();
    }
}
