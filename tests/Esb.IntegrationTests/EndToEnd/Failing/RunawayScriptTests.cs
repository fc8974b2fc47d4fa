using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>Scripts and templates on a whole host: a runaway one costs its message, and the neighbours are served meanwhile.</summary>
[Category("Failures")]
public sealed class RunawayScriptTests
{
    private const string Configuration = """
        {
          "maps": {
            "order": "order.js",
            "route": "route.js",
            "runaway": "runaway.js",
            "page": { "file": "page.liquid", "contentType": "text/html" }
          },
          "topics": { "orders": {} },
          "endpoints": {
            "order": { "type": "http-inbound", "path": "/order", "mode": "request-reply", "process": "order" },
            "runaway": { "type": "http-inbound", "path": "/runaway", "mode": "request-reply", "process": "runaway" },
            "page": { "type": "http-inbound", "path": "/page", "mode": "request-reply", "process": "page" },
            "packed": { "type": "http-inbound", "path": "/packed", "mode": "request-reply", "process": "packed" }
          },
          "processes": {
            "order": [{ "transform": { "map": "order", "parameters": { "rate": 2 } } }, { "script": "route" }],
            "runaway": [{ "transform": "runaway" }],
            "page": [{ "transform": "page" }],
            "packed": [{ "decode": "gzip" }, { "transform": { "map": "order", "parameters": { "rate": 3 } } }, { "encode": "gzip" }]
          }
        }
        """;

    private const string Order = "export default (input, context) => ({ id: input.id, total: input.total * context.parameters.rate });";

    private const string Runaway = """
        const ways = {
          loop() { while (true); },
          recursion() { const f = () => 1 + f(); return f(); },
          text() { const o = { toString() { return '' + this; } }; return `${o}`; },
          memory() { const all = []; while (true) all.push('x'.repeat(1000)); },
          regex() { return [/^(a+)+$/.test('a'.repeat(60) + 'b')]; },
          deep() { let o = []; for (let i = 0; i < 50000; i++) o = [o]; return String(o); },
          json() { let o = {}; for (let i = 0; i < 50000; i++) o = { o }; return JSON.stringify(o); },
          error() { throw new Error('no order'); },
          nothing() { },
        };
        export default input => ways[input.way]();
        """;

    private DirectoryInfo _folder = null!;
    private HostProcess _host = null!;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-scripts-");
        Write("esb.json", Configuration);
        Write("order.js", Order);
        Write("route.js", "export default input => ({ headers: { 'x-large': input.total > 100 } });");
        Write("runaway.js", Runaway);
        Write("page.liquid", "<p>{{ input.name }}</p>");
        _host = await HostProcess.StartAsync(_folder.FullName, _folder.FullName, CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, CancelAfter(120_000)]
    public async Task Runaway_scripts_cost_their_messages_and_the_neighbours_are_served_meanwhile(CancellationToken cancellationToken)
    {
        List<(string Way, string Code)> ways =
        [
            .. new[] { "loop", "recursion", "text", "memory", "regex", "deep", "json" }.Select(way => (way, "ESB-JS-LIMIT")),
            ("error", "ESB-JS-ERROR"),
            ("nothing", "ESB-JS-RESULT"),
        ];
        var runaways = ways.Select(way => AskAsync("/runaway", $$"""{ "way": "{{way.Way}}" }""", cancellationToken)).ToList();
        var neighbours = Enumerable
            .Range(0, 50)
            .Select(i => AskAsync("/order", $$"""{ "id": {{i}}, "total": 1 }""", cancellationToken))
            .ToList();

        foreach (var (way, (status, text)) in ways.Zip(await Task.WhenAll(runaways)))
        {
            Assert.That(status, Is.EqualTo(HttpStatusCode.InternalServerError), way.Way);
            Assert.That(text, Does.Contain(way.Code), way.Way);
        }

        var answers = await Task.WhenAll(neighbours);
        Assert.That(answers.Select(answer => answer.Status), Is.All.EqualTo(HttpStatusCode.OK));
        Assert.That(answers[49].Text, Is.EqualTo("""{"id":49,"total":2}"""));
        Assert.That(_host.HasExited, Is.False);
    }

    [Test, CancelAfter(120_000)]
    public async Task Template_escapes_what_it_takes_from_a_message(CancellationToken cancellationToken)
    {
        var (status, text) = await AskAsync("/page", """{ "name": "A&B <x>" }""", cancellationToken);

        Assert.That((status, text), Is.EqualTo((HttpStatusCode.OK, "<p>A&amp;B &lt;x&gt;</p>")));
    }

    [Test, CancelAfter(120_000)]
    public async Task Body_that_is_no_gzip_is_refused(CancellationToken cancellationToken)
    {
        var (status, text) = await AskAsync("/packed", "{}", cancellationToken);

        Assert.That(status, Is.EqualTo(HttpStatusCode.BadRequest));
        Assert.That(text, Does.Contain("ESB-CODEC-FORMAT"));
    }

    [Test, Category("Thorough"), CancelAfter(120_000)]
    public async Task Broken_replacement_is_told_and_a_sound_one_is_taken_without_a_restart(CancellationToken cancellationToken)
    {
        Write("order.js", "export default (input => {");
        await _host.WaitAsync(
            async token => (await ReadinessAsync(token)).Contains("ESB-CFG-RELOAD map order", StringComparison.Ordinal),
            TimeSpan.FromSeconds(20),
            "to tell of the broken map",
            cancellationToken
        );
        await _host.WaitForLogAsync(cancellationToken, "ESB-JS-COMPILE, order.js, line 1, column");
        Assert.That(
            (await AskAsync("/order", """{ "id": 1, "total": 1 }""", cancellationToken)).Text,
            Is.EqualTo("""{"id":1,"total":2}"""),
            "the map before goes on"
        );

        Write("order.js", "export default input => ({ new: input.id });");
        await _host.WaitAsync(
            async token => (await AskAsync("/order", """{ "id": 1, "total": 1 }""", token)).Text == """{"new":1}""",
            TimeSpan.FromSeconds(20),
            "to take the sound map",
            cancellationToken
        );

        Write("order.js", Order);
        await _host.WaitAsync(
            async token => (await AskAsync("/order", """{ "id": 1, "total": 1 }""", token)).Text == """{"id":1,"total":2}""",
            TimeSpan.FromSeconds(20),
            "to take the first map again",
            cancellationToken
        );
    }

    private Task<string> ReadinessAsync(CancellationToken cancellationToken) => _host.ReadAsync("/health/ready", cancellationToken);

    private async Task<(HttpStatusCode Status, string Text)> AskAsync(string path, string body, CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync(path, body, "application/json", cancellationToken);
        return (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken));
    }

    private void Write(string name, string text) => File.WriteAllText(Path.Combine(_folder.FullName, name), text);
}
