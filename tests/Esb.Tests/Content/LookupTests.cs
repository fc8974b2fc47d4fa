using Esb.Content.Lookups;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Tests.Fakes;
using Esb.Tests.Workflows.Processes;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Content;

[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class LookupTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-lookups-");
    private CompiledProcesses? _processes;

    private string CountriesFile => Path.Combine(_folder.FullName, "countries.csv");

    public void Dispose()
    {
        _processes?.Dispose();
        _folder.Delete(recursive: true);
    }

    [TestCase("DE", "DEU"), TestCase("AT", "AUT"), TestCase("XX", "ZZZ"), TestCase(null, "ZZZ")]
    public async Task Value_is_a_column_of_the_entry_with_the_key(string? key, string expected, CancellationToken cancellationToken)
    {
        Compile(
            """[{ "set": { "properties": { "iso": { "lookup": "countries", "key": { "header": "x-country" }, "column": "iso", "otherwise": "ZZZ" } } } }]"""
        );

        var context = await RunAsync(key, cancellationToken);

        Assert.That(context.GetProperty("iso"), Is.EqualTo(expected));
    }

    [Test]
    public async Task Missing_entry_is_no_value_and_may_be_required(CancellationToken cancellationToken)
    {
        Compile(
            """
            [{ "set": { "properties": { "iso": { "lookup": "countries", "key": { "header": "x-country" }, "column": "iso" } } } },
             { "filter": { "lookup": "countries", "key": { "header": "x-country" }, "column": "eu", "equals": "yes" } }]
            """
        );

        var known = await RunAsync("DE", cancellationToken);
        var unknown = await RunAsync("XX", cancellationToken);

        Assert.That(
            (known.Outcome, unknown.Outcome, unknown.GetProperty("iso")),
            Is.EqualTo((ProcessOutcome.Running, ProcessOutcome.Filtered, (object?)null))
        );
    }

    [Test]
    public async Task Maps_look_up_too(CancellationToken cancellationToken)
    {
        Compile(
            """[{ "transform": "script" }, { "set": { "properties": { "script": { "message": "body" } } } }, { "transform": "text" }]""",
            (
                "script.js",
                """export default (input, context) => [context.lookup("countries", "DE").iso, context.lookup("countries", "XX") === undefined, context.headers["x-country"]].join(" ")"""
            ),
            (
                "text.liquid",
                """{{ headers.x-country | lookup: "countries", "iso" }} {% assign c = "DE" | lookup: "countries" %}{{ c.iso }}{{ "XX" | lookup: "countries", "iso" }}"""
            )
        );

        var context = await RunAsync("AT", cancellationToken);

        Assert.That((context.GetProperty("script"), context.Message.Body.ReadText()), Is.EqualTo(("DEU true AT", "AUT DEU")));
    }

    [
        TestCase("a,b\n1,2\n1,3\n", "the key \"1\" stands in it a second time"),
        TestCase("a,b\n1\n", "ESB-FLAT-COLUMNS"),
        TestCase("a,b\n\"1\n", "ESB-FLAT-QUOTE")
    ]
    public void File_that_is_no_table_is_refused(string text, string expected)
    {
        Compile("[]", text: text);

        Assert.That(_processes!.Errors.All.Select(error => error.Code), Is.EqualTo(new[] { "ESB-CFG-LOOKUP" }));
        Assert.That(_processes.Errors.All[0].Expected, Does.Contain(expected));
    }

    [
        TestCase("""{ "lookup": "nothing", "key": "a", "column": "iso" }""", "ESB-CFG-REF"),
        TestCase("""{ "lookup": "countries", "key": "a", "column": "none" }""", "ESB-CFG-REF")
    ]
    [
        TestCase("""{ "lookup": "countries", "key": "a" }""", "ESB-CFG-VALUE"),
        TestCase("""{ "lookup": "countries", "column": "iso" }""", "ESB-CFG-VALUE"),
        TestCase("""{ "lookup": "countries", "key": "a", "header": "b", "column": "iso" }""", "ESB-CFG-ONEOF")
    ]
    public void Mistake_in_a_value_is_found_before_a_message_comes(string value, string code)
    {
        Compile($$"""[{ "set": { "headers": { "x-a": {{value}} } } }]""");

        Assert.That(_processes!.Errors.All.Select(error => error.Code), Is.EqualTo(new[] { code }));
    }

    [Test]
    public void Change_of_the_file_is_in_use_and_a_broken_one_is_told()
    {
        Compile("[]");
        var lookup =
            _processes!.Service<LookupModels>().Find("countries") as FileLookup
            ?? throw new AssertionException("It is no look-up in a file.");
        var live = new LiveLookup(lookup, NullLogger.Instance);

        Write("code,iso,eu\nDE,GER,yes\n");
        live.Look();
        live.Look();
        var changed = lookup.Find("DE", "iso");
        Write("code,iso,eu\nDE\n");
        live.Look();
        live.Look();

        Assert.That((changed, lookup.Find("DE", "iso"), lookup.Find("AT", "iso")), Is.EqualTo(("GER", "GER", (string?)null)));
        Assert.That(live.Problem, Does.Contain("ESB-FLAT-COLUMNS"));
    }

    private void Write(string text)
    {
        var before = File.Exists(CountriesFile) ? File.GetLastWriteTimeUtc(CountriesFile) : DateTime.UnixEpoch;
        File.WriteAllText(CountriesFile, text);
        if (File.GetLastWriteTimeUtc(CountriesFile) <= before)
            File.SetLastWriteTimeUtc(CountriesFile, before.AddSeconds(1));
    }

    private Task<MessageContext> RunAsync(string? country, CancellationToken cancellationToken) =>
        _processes!.RunAsync(
            Some.Message("{}") with
            {
                Headers = country is null ? MessageHeaders.Empty : MessageHeaders.From([new("x-country", country)]),
            },
            cancellationToken
        );

    private void Compile(string main, params (string, string)[] maps) =>
        Compile(main, "code,iso,eu\nDE,DEU,yes\nAT,AUT,yes\nCH,CHE,no\n", maps);

    private void Compile(string main, string text, params (string, string)[] maps)
    {
        Write(text);
        _processes = new CompiledProcesses(
            $$"""{ "main": {{main}} }""",
            sections: $$""" "lookups": { "countries": { "file": "{{CountriesFile}}" } }, """,
            maps: maps
        );
    }
}
