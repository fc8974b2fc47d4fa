using Esb.Core.Errors;

namespace Esb.Tests.Workflows.Processes;

/// <summary>The steps <c>script</c>, <c>decode</c>, <c>encode</c>, and <c>set</c> of the body.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class ScriptStepTests : IDisposable
{
    private CompiledProcesses? _processes;

    public void Dispose() => _processes?.Dispose();

    [Test, CancelAfter(30_000)]
    public async Task Script_replaces_just_what_it_returns(CancellationToken cancellationToken)
    {
        Compile(
            """[{ "script": { "map": "route", "parameters": { "limit": 100 } } }]""",
            (
                "route.js",
                """
                export default (input, { parameters, headers }) => ({ headers: { 'x-large': input.total > parameters.limit, 'x-gone': null }, properties: { seen: headers['x-gone'] } });
                """
            )
        );
        var message = Some.Message("""{ "total": 101 }""") with { ContentType = "application/json" };

        var context = await _processes!.RunAsync(
            message with
            {
                Headers = message.Headers.With("x-gone", "old").With("x-kept", "k"),
            },
            cancellationToken
        );

        Assert.That(context.Message.Headers, Is.EquivalentTo(new Dictionary<string, string> { ["x-kept"] = "k", ["x-large"] = "true" }));
        Assert.That(context.GetProperty("seen"), Is.EqualTo("old"));
        Assert.That(
            (context.Message.Body.ReadText(), context.Message.ContentType),
            Is.EqualTo(("""{ "total": 101 }""", "application/json"))
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Script_and_transform_make_bodies_for_later_steps(CancellationToken cancellationToken)
    {
        Compile(
            """[{ "transform": "first" }, { "script": "second" }, { "set": { "properties": { "n": { "jsonpath": "$.n" } } } }]""",
            ("first.js", "export default input => ({ n: Number(input.a.n) });"),
            ("second.js", "export default input => ({ body: { n: input.n + 1 } });")
        );

        var context = await _processes!.RunAsync(Some.Message("<a><n>1</n></a>"), cancellationToken);

        Assert.That(
            (context.Message.Body.ReadText(), context.Message.ContentType, context.GetProperty("n")),
            Is.EqualTo(("""{"n":2}""", "application/json", 2.0))
        );
    }

    [Test]
    public void Script_step_needs_a_script()
    {
        Compile(
            """[{ "script": "sheet" }]""",
            ("sheet.xsl", """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"/>""")
        );

        Assert.That(
            _processes!.Errors.All.Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-REF", "processes.main[0].script") })
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Failure_that_a_script_asks_for_is_caught_by_its_code(CancellationToken cancellationToken)
    {
        Compile(
            """[{ "try": { "steps": [{ "transform": "map" }], "catch": [{ "codes": ["ESB-PROC-REFUSED"], "steps": [{ "set": { "body": { "property": "error.reason" } } }] }] } }]""",
            ("map.js", "export default (input, context) => context.fail('not today');")
        );

        var context = await _processes!.RunAsync(Some.Message("{}"), cancellationToken);

        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("not today"));
    }

    [TestCase("""{ "body": { "jsonpath": "$.a" } }""", """{"b":1}""", "application/json")]
    [TestCase("""{ "body": { "value": { "x": [1] } } }""", """{"x":[1]}""", "application/json")]
    [TestCase("""{ "body": "text" }""", "text", "text/plain; charset=utf-8")]
    [TestCase("""{ "body": { "header": "x-none" }, "contentType": "text/csv" }""", "", "text/csv")]
    [CancelAfter(30_000)]
    public async Task Set_replaces_the_body(string set, string body, string contentType)
    {
        Compile($$"""[{ "set": {{set}} }]""");

        var context = await _processes!.RunAsync(Some.Message("""{ "a": {"b":1} }"""), CancellationToken.None);

        Assert.That((context.Message.Body.ReadText(), context.Message.ContentType), Is.EqualTo((body, contentType)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Body_is_encoded_and_decoded(CancellationToken cancellationToken)
    {
        Compile(
            """[{ "encode": { "codec": "zip", "entryName": { "template": "{message.id}.json" } } }, { "encode": "base64" }, { "decode": "base64" }, { "decode": { "codec": "zip", "contentType": "application/json" } }]"""
        );

        var context = await _processes!.RunAsync(Some.Message("{}"), cancellationToken);

        Assert.That((context.Message.Body.ReadText(), context.Message.ContentType), Is.EqualTo(("{}", "application/json")));
    }

    [Test, CancelAfter(30_000)]
    public void Entry_name_that_leaves_the_archive_is_refused(CancellationToken cancellationToken)
    {
        Compile("""[{ "encode": { "codec": "zip", "entryName": { "header": "x-name" } } }]""");
        var message = Some.Message("{}");

        var error = Assert.ThrowsAsync<EsbException>(() =>
            _processes!.RunAsync(message with { Headers = message.Headers.With("x-name", "../a") }, cancellationToken)
        )!;

        Assert.That(error.Code, Is.EqualTo("ESB-CODEC-NAME"));
    }

    private void Compile(string main, params (string Name, string Text)[] maps) =>
        _processes = new CompiledProcesses($$"""{ "main": {{main}} }""", maps: maps);
}
