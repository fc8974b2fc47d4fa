using System.Text;
using Esb.Host;
using Esb.Host.Commands;
using Esb.Tests.Content.Transforms;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Commands;

/// <summary><c>esb transform</c>.</summary>
[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class TransformCommandTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-transform-");
    private readonly StringWriter _output = new();
    private readonly StringWriter _error = new();

    public void Dispose()
    {
        _folder.Delete(recursive: true);
        _output.Dispose();
        _error.Dispose();
    }

    [Test]
    public async Task Map_in_a_file_is_tried_with_parameters_and_further_documents()
    {
        var map = Write(
            "map.xsl",
            SomeMaps.Stylesheet(
                """
                <xsl:output omit-xml-declaration="yes"/><xsl:param name="p"/><xsl:param name="other"/>
                <xsl:template match="/"><a p="{$p}"><xsl:value-of select="concat(x, $other/y)"/></a></xsl:template>
                """
            )
        );

        var exitCode = await RunAsync(
            "transform",
            map,
            Write("x.xml", "<x>é</x>"),
            "--param",
            "p=a=<b>",
            "--input",
            $"other={Write("y.xml", "<y>!</y>")}"
        );

        Assert.That((exitCode, _output.ToString().TrimEnd(), _error.ToString()), Is.EqualTo((0, "<a p=\"a=&lt;b&gt;\">é!</a>", "")));
    }

    [Test]
    public async Task Map_of_a_configuration_is_found_by_its_name()
    {
        Write("maps/one.xsl", SomeMaps.Stylesheet("<xsl:output encoding='iso-8859-1'/><xsl:template match='/'><a>é</a></xsl:template>"));
        var config = Write("esb.json", """{ "maps": { "first": "maps/one.xsl" } }""");
        var result = Path.Combine(_folder.FullName, "result.xml");

        var exitCode = await RunAsync("transform", "first", Write("x.xml", "<x/>"), "--config", config, "--output", result);
        var unknown = await RunAsync("transform", "second", Write("x.xml", "<x/>"), "--config", config);

        Assert.That(exitCode, Is.Zero, _error.ToString());
        Assert.That(
            await File.ReadAllBytesAsync(result),
            Is.EqualTo(Encoding.Latin1.GetBytes("<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><a>é</a>"))
        );
        Assert.That(unknown, Is.EqualTo(2));
        Assert.That(_error.ToString(), Does.StartWith("ESB-CLI-MAP").And.Contains("'second'"));
    }

    [TestCase("map.js", "export default (input, context) => ({ p: context.parameters.p, sum: input.n + context.inputs.other.n });")]
    [TestCase("map.liquid", """{"p":"{{ parameters.p }}","sum":{{ input.n | plus: inputs.other.n }}}""")]
    public async Task Script_or_template_is_tried_with_parameters_and_further_documents(string name, string map)
    {
        var exitCode = await RunAsync(
            "transform",
            Write(name, map),
            Write("x.json", """{ "n": 40 }"""),
            "--param",
            "p=a=<b>",
            "--input",
            $"other={Write("y.json", """{ "n": 2 }""")}"
        );

        Assert.That((exitCode, _output.ToString().TrimEnd(), _error.ToString()), Is.EqualTo((0, """{"p":"a=<b>","sum":42}""", "")));
    }

    [TestCase(
        "map.js",
        "export default (input, context) => { context.log('seen'); return context.lookup('countries', input.c).iso; };",
        "seen"
    )]
    [TestCase("map.liquid", "{{ input.c | lookup: 'countries', 'iso' }}", "")]
    public async Task Script_or_template_of_a_configuration_finds_its_look_ups(string name, string map, string log)
    {
        Write(name, map);
        Write("countries.csv", "code,iso\nDE,DEU\n");
        var config = Write(
            "esb.json",
            $$"""{ "maps": { "country": "{{name}}" }, "lookups": { "countries": { "file": "countries.csv", "key": "code" } } }"""
        );

        var exitCode = await RunAsync("transform", "country", Write("x.json", """{ "c": "DE" }"""), "--config", config);

        Assert.That((exitCode, _output.ToString().TrimEnd(), _error.ToString().TrimEnd()), Is.EqualTo((0, "DEU", log)));
    }

    [TestCase("map.js", "export default () => { while (true); };", 1, "ESB-JS-LIMIT .*x.json: The map map was ended")]
    [TestCase("map.js", "export default function f() { return 1 + f(); }", 1, "ESB-JS-LIMIT .*x.json: The map map was ended")]
    [TestCase("map.js", "export default () => {\n throw new Error('no order');\n};", 1, "ESB-JS-ERROR .*x.json: .*line 2.*no order")]
    [TestCase("map.js", "export default () => {};", 1, "ESB-JS-RESULT .*x.json: ")]
    [TestCase("map.js", "export default (() => {", 3, "ESB-JS-COMPILE .*map.js, line 1, column [0-9]+: ")]
    [TestCase("map.liquid", "{% for i in (1..2000000000) %}{% endfor %}", 1, "ESB-LQD-LIMIT .*x.json: The map map was ended")]
    [TestCase("map.liquid", "{{ input | nosuch }}", 1, "ESB-LQD-ERROR .*x.json: ")]
    [TestCase("map.liquid", "{% if %}", 3, "ESB-LQD-COMPILE .*map.liquid, line 1, column [0-9]+: ")]
    public async Task Script_or_template_that_fails_or_runs_away_says_why(string name, string map, int exitCode, string expected)
    {
        Assert.That(await RunAsync("transform", Write(name, map), Write("x.json", "{}")), Is.EqualTo(exitCode));
        Assert.That(_error.ToString(), Does.Match($"^{expected}"));
        Assert.That(_output.ToString(), Is.Empty);
    }

    [TestCase("<xsl:template match='/'>", 3, "ESB-XSL-COMPILE .*map.xsl, line 1, column [0-9]+: ")]
    [TestCase("<xsl:include href='file:x'/>", 3, "ESB-XSL-RESOLVE .*map.xsl, line 1, column [0-9]+: 'file:x' is not allowed")]
    [TestCase(
        "<xsl:template match='/'><xsl:for-each select='*'><xsl:sort case-order='upper-first'/></xsl:for-each></xsl:template>",
        3,
        "ESB-XSL-COMPILE .*map.xsl, line 1, column [0-9]+: .*case-order"
    )]
    [TestCase("<xsl:param name='p'/>", 2, "ESB-XSL-PARAM .*x.xml: The map map needs the parameter 'p'")]
    [TestCase(
        "<xsl:template match='/'><xsl:message terminate='yes'>no order</xsl:message></xsl:template>",
        1,
        "ESB-XSL-TERMINATED .*x.xml: .*no order"
    )]
    public async Task Map_that_cannot_be_used_says_where_and_why(string body, int exitCode, string expected)
    {
        Assert.That(await RunAsync("transform", Write("map.xsl", SomeMaps.Stylesheet(body)), Write("x.xml", "<x/>")), Is.EqualTo(exitCode));
        Assert.That(_error.ToString(), Does.Match($"^{expected}"));
        Assert.That(_output.ToString(), Is.Empty);
    }

    [Test]
    public async Task Document_that_cannot_be_read_says_where()
    {
        var exitCode = await RunAsync("transform", Write("map.xsl", SomeMaps.Stylesheet("")), Write("x.xml", "<x>\n<y></x>"));

        Assert.That(exitCode, Is.EqualTo(1));
        Assert.That(_error.ToString(), Does.Match("^ESB-XML-SYNTAX .*x.xml: .*line 2, column 6"));
    }

    [TestCase("nowhere.xsl", "x.xml", "ESB-CLI-FILE The map nowhere.xsl cannot be read: there is no such file")]
    [TestCase("map.xsl", "nowhere.xml", "ESB-CLI-FILE The file nowhere.xml cannot be read: there is no such file")]
    [TestCase("map.xsl --param q=1", "x.xml", "ESB-XSL-PARAM The map map has no parameter 'q'")]
    [TestCase("map.xsl --param q", "x.xml", "ESB-CLI-USAGE --param: expected NAME=VALUE")]
    public async Task What_is_not_there_is_an_error_of_usage(string map, string file, string expected)
    {
        var (here, words) = (Write("map.xsl", SomeMaps.Stylesheet("")), map.Split(' '));
        var document = file == "x.xml" ? Write("x.xml", "<x/>") : file;

        var exitCode = await RunAsync(["transform", words[0] == "map.xsl" ? here : words[0], document, .. words[1..]]);

        Assert.That(exitCode, Is.EqualTo(2));
        Assert.That(_error.ToString(), Does.StartWith(expected));
    }

    private Task<int> RunAsync(params string[] arguments) =>
        EsbCommandLine.InvokeAsync(
            arguments,
            new CommandContext
            {
                Output = _output,
                Error = _error,
                Variables = new Dictionary<string, string>(),
                Services = () => new ServiceCollection().AddEsb(),
            }
        );

    private string Write(string name, string text)
    {
        var path = Path.Combine(_folder.FullName, name);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, text);
        return path;
    }
}
