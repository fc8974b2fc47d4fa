using Esb.Core.Errors;
using Esb.Core.Processes;

namespace Esb.Tests.Workflows.Processes;

/// <summary>Steps that read another kind of document than the map before them makes.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class MapOutputTests : IDisposable
{
    private const string ReadJson = """{ "set": { "properties": { "id": { "jsonpath": "$.id" } } } }""";
    private const string ReadXml = """{ "set": { "properties": { "id": { "xpath": "//order/@id" } } } }""";

    private CompiledProcesses? _processes;

    public void Dispose() => _processes?.Dispose();

    [TestCase("page", ReadJson, "processes.main[1].set.properties.id.jsonpath", "reads JSON, and the map page before it makes HTML")]
    [TestCase("page", ReadXml, "processes.main[1].set.properties.id.xpath", "reads XML, and the map page before it makes HTML")]
    [TestCase("note", ReadJson, "processes.main[1].set.properties.id.jsonpath", "reads JSON, and the map note before it makes text")]
    [TestCase("order", ReadJson, "processes.main[1].set.properties.id.jsonpath", "reads JSON, and the map order before it makes XML")]
    [TestCase("json", ReadXml, "processes.main[1].set.properties.id.xpath", "reads XML, and the map json before it makes JSON")]
    [TestCase("page", """{ "transform": "order" }""", "processes.main[1].transform", "reads XML, and the map page before it makes HTML")]
    [TestCase(
        "page",
        """{ "filter": { "any": [{ "header": "x" }, { "not": { "jsonpath": "$.id" } }] } }""",
        "processes.main[1].filter.any[1].not.jsonpath",
        "reads JSON"
    )]
    [TestCase(
        "page",
        """{ "choose": { "when": [{ "if": { "header": "x" }, "steps": [{ "log": "x" }, { "filter": { "jsonpath": "$.id" } }] }] } }""",
        "processes.main[1].choose.when[0].steps[1].filter.jsonpath",
        "reads JSON"
    )]
    [TestCase(
        "page",
        """{ "try": { "steps": [{ "filter": { "jsonpath": "$.id" } }] } }""",
        "processes.main[1].try.steps[0].filter.jsonpath",
        "reads JSON"
    )]
    [Property("Case", "XSL-16")]
    public void Step_that_reads_what_its_map_does_not_make_is_warned_of(string map, string step, string path, string meaning)
    {
        Compile($$"""{ "transform": "{{map}}" }, {{step}}""");

        var warning = _processes!.Errors.Warnings.Single();

        Assert.That(_processes.Errors.All, Is.Empty, "it may still be what it should be");
        Assert.That((warning.Code, warning.Path), Is.EqualTo(("ESB-PROC-TYPE", path)));
        Assert.That(warning.Expected, Does.StartWith(meaning));
    }

    [TestCase("""{ "transform": "order" }, { "set": { "properties": { "id": { "xpath": "//order/@id" } } } }""")]
    [TestCase("""{ "transform": "json" }, { "set": { "properties": { "id": { "jsonpath": "$.id" } } } }""")]
    [TestCase("""{ "transform": "page" }, { "call": "backend" }, { "set": { "properties": { "id": { "jsonpath": "$.id" } } } }""")]
    [TestCase(
        """{ "choose": { "when": [{ "if": { "header": "x" }, "steps": [{ "transform": "page" }] }] } }, { "set": { "properties": { "id": { "jsonpath": "$.id" } } } }"""
    )]
    [TestCase("""{ "transform": "page" }, { "set": { "headers": { "x-a": { "header": "x-b" } } } }""")]
    [TestCase("""{ "try": { "steps": [{ "transform": "page" }], "catch": [{ "steps": [{ "filter": { "jsonpath": "$.id" } }] }] } }""")]
    [Property("Case", "XSL-16")]
    public void Step_that_reads_what_it_may_get_is_not_warned_of(string steps)
    {
        Compile(steps);

        Assert.That(_processes!.Errors.Warnings, Is.Empty);
    }

    [
        TestCase("page", ReadJson, "The step processes.main[1].set reads JSON, and the map page makes HTML: "),
        TestCase("page", ReadXml, "The step processes.main[1].set reads XML, and the map page makes HTML: ")
    ]
    [
        TestCase("note", ReadXml, "The step processes.main[1].set reads XML, and the map note makes text: "),
        TestCase("order", ReadJson, "The step processes.main[1].set reads JSON, and the map order makes XML: ")
    ]
    [CancelAfter(30_000), Property("Case", "XSL-16")]
    public void Step_that_cannot_read_what_a_map_made_fails_as_a_defect_of_the_process(
        string map,
        string step,
        string reason,
        CancellationToken cancellationToken
    )
    {
        Compile($$"""{ "transform": "{{map}}" }, {{step}}""");

        var failure = Assert.ThrowsAsync<EsbException>(() => RunAsync("<order id='7'/>", cancellationToken));

        Assert.That((failure!.Code, failure.Kind), Is.EqualTo(("ESB-PROC-TYPE", FaultKind.Internal)));
        Assert.That(failure.Message, Does.StartWith(reason));
    }

    [Test, CancelAfter(30_000), Property("Case", "XSL-16")]
    public void Failure_is_told_once_by_the_step_that_reads(CancellationToken cancellationToken)
    {
        Compile(
            $$"""{ "transform": "page" }, { "choose": { "when": [{ "if": { "value": true }, "steps": [{ "run": "other" }] }] } }""",
            $$""", "other": [{{ReadJson}}]"""
        );

        var failure = Assert.ThrowsAsync<EsbException>(() => RunAsync("<order id='7'/>", cancellationToken));

        Assert.That(
            failure!.Message,
            Does.StartWith("The step processes.other[0].set reads JSON")
                .And.Not.Contain("reads JSON, and the map page makes HTML: The step")
        );
    }

    [Test, CancelAfter(30_000), Property("Case", "XSL-16")]
    public async Task Text_that_happens_to_be_what_a_step_reads_is_read(CancellationToken cancellationToken)
    {
        Compile($$"""{ "transform": "written" }, {{ReadJson}}""");

        var context = await RunAsync("<order id='7'/>", cancellationToken);

        Assert.That(context.GetProperty("id"), Is.EqualTo(7.0));
    }

    [TestCase("not XML at all", "ESB-XML-SYNTAX"), CancelAfter(30_000)]
    public void Message_that_its_sender_broke_stays_the_fault_of_its_sender(string body, string code, CancellationToken cancellationToken)
    {
        Compile("""{ "transform": "page" }""");

        var failure = Assert.ThrowsAsync<EsbException>(() => RunAsync(body, cancellationToken));

        Assert.That((failure!.Code, failure.Kind), Is.EqualTo((code, FaultKind.Malformed)));
    }

    [Test, CancelAfter(30_000), Property("Case", "XSL-16")]
    public async Task Mismatch_can_be_caught(CancellationToken cancellationToken)
    {
        Compile(
            $$"""{ "transform": "page" }, { "try": { "steps": [{{ReadJson}}], "catch": [{ "codes": ["ESB-PROC-TYPE"], "steps": [{ "set": { "properties": { "caught": "yes" } } }] }] } }"""
        );

        var context = await RunAsync("<order id='7'/>", cancellationToken);

        Assert.That(context.GetProperty("caught"), Is.EqualTo("yes"));
    }

    private Task<MessageContext> RunAsync(string body, CancellationToken cancellationToken) =>
        _processes!.RunAsync(Some.Message(body), cancellationToken);

    private void Compile(string steps, string more = "") =>
        _processes = new CompiledProcesses(
            $$"""{ "main": [{{steps}}]{{more}} }""",
            maps:
            [
                ("page", Map("method='html'", "<html><body><br/><xsl:value-of select='/order/@id'/></body></html>")),
                ("note", Map("method='text'", "order <xsl:value-of select='/order/@id'/>")),
                ("written", Map("method='text'", "{ \"id\": <xsl:value-of select='/order/@id'/> }")),
                ("json", Map("method='text' media-type='application/json'", "{ \"id\": <xsl:value-of select='/order/@id'/> }")),
                ("order", Map("method='xml'", "<order id='{/order/@id}'/>")),
            ]
        );

    private static string Map(string output, string content) =>
        $"""
            <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output {output}/><xsl:template match="/">{content}</xsl:template></xsl:stylesheet>
            """;
}
