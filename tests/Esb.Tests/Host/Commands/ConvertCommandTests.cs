using System.Text;
using Esb.Host;
using Esb.Host.Commands;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Commands;

/// <summary><c>esb convert</c>.</summary>
[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class ConvertCommandTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-convert-");
    private readonly StringWriter _output = new();
    private readonly StringWriter _error = new();

    public void Dispose()
    {
        _folder.Delete(recursive: true);
        _output.Dispose();
        _error.Dispose();
    }

    [TestCase("x.csv", "a,b\n1,2\n", "--from csv --to json", """[{"a":"1","b":"2"}]""")]
    [TestCase("x.xml", "<a><b>é</b></a>", "--to json --array b", """{"a":{"b":["é"]}}""")]
    [TestCase("x.json", """{"a":1,"b":2}""", "--to xml --root r", """<?xml version="1.0" encoding="utf-8"?><r><a>1</a><b>2</b></r>""")]
    [TestCase("x.json", """[{"a":1},{"a":2}]""", "--to json-lines", "{\"a\":1}\n{\"a\":2}")]
    public async Task Document_is_shown_in_the_other_form(string name, string text, string options, string expected)
    {
        var exitCode = await RunAsync(["convert", Write(name, text), .. options.Split(' ')]);

        Assert.That((exitCode, _output.ToString().TrimEnd(), _error.ToString()), Is.EqualTo((0, expected, "")));
    }

    [Test]
    public async Task Format_of_a_configuration_is_written_byte_for_byte()
    {
        var config = Write("esb.json", """{ "formats": { "orders": { "type": "csv", "delimiter": ";", "encoding": "iso-8859-1" } } }""");
        var result = Path.Combine(_folder.FullName, "result.csv");

        var exitCode = await RunAsync(
            "convert",
            Write("x.json", """[{"a":"é","b":1}]"""),
            "--to",
            "orders",
            "--config",
            config,
            "--output",
            result
        );
        var unknown = await RunAsync("convert", result, "--from", "ordres", "--to", "json", "--config", config);

        Assert.That(exitCode, Is.Zero, _error.ToString());
        Assert.That(await File.ReadAllBytesAsync(result), Is.EqualTo(Encoding.Latin1.GetBytes("a;b\r\né;1\r\n")));
        Assert.That(unknown, Is.EqualTo(2));
        Assert.That(_error.ToString(), Does.StartWith("ESB-CLI-FORMAT There is no format 'ordres'; expected one of json, xml, orders."));
    }

    [Test]
    public async Task Schema_of_a_configuration_gives_the_types()
    {
        Write("order.schema.json", """{ "properties": { "order": { "properties": { "total": { "type": "number" } } } } }""");
        var config = Write("esb.json", """{ "schemas": { "order": "order.schema.json" } }""");
        var order = Write("order.xml", "<order><total>12.50</total></order>");

        var exitCode = await RunAsync("convert", order, "--to", "json", "--types", "order", "--config", config);
        var unknown = await RunAsync("convert", order, "--to", "json", "--types", "ordre", "--config", config);
        var without = await RunAsync("convert", order, "--to", "json", "--types", "order");

        Assert.That((exitCode, _output.ToString().TrimEnd()), Is.EqualTo((0, """{"order":{"total":12.50}}""")), _error.ToString());
        Assert.That((unknown, without), Is.EqualTo((2, 2)));
        Assert.That(_error.ToString(), Does.StartWith("ESB-CLI-SCHEMA There is no schema 'ordre' in the configuration."));
    }

    [Test]
    public async Task Document_that_is_refused_says_where()
    {
        var exitCode = await RunAsync("convert", Write("x.csv", "a,b\n1\n"), "--from", "csv", "--to", "json");

        Assert.That(exitCode, Is.EqualTo(1));
        Assert.That(_error.ToString(), Does.Match("^ESB-FLAT-COLUMNS .*x.csv: csv, line 2: expected 2 fields, found 1"));
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
        File.WriteAllText(path, text);
        return path;
    }
}
