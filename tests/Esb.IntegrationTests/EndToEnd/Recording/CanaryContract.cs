using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests;

namespace Esb.IntegrationTests.EndToEnd.Recording;

/// <summary>Secrets that the configuration masks, in messages that arrive, are refused, fail and end as dead letters: they are in the
/// messages, and nowhere else.</summary>
[Property("Case", "AUD-02")]
[OwnProcess]
public abstract class CanaryContract
{
    private const string Form = "application/x-www-form-urlencoded";

    private const string Map = """
        <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
          <xsl:output method="xml" omit-xml-declaration="yes"/>
          <xsl:template match="/o"><made password="{password}"><xsl:copy-of select="note"/><password><xsl:value-of select="@password"/></password></made></xsl:template>
        </xsl:stylesheet>
        """;

    private static readonly string[] Views =
    [
        "/api/endpoints",
        "/api/endpoints/failing",
        "/api/topics",
        "/api/configuration",
        "/api/activities",
        "/api/activities/order",
        "/api/activities/order/items",
        "/api/metrics",
        "/api/metrics?format=prometheus",
        "/api/log",
        "/api/dead-letters",
        "/api/dead-letters/groups",
        "/api/replays",
        "/api/parked",
        "/api/unroutable?peek=10",
        "/api/outboxes",
        "/health/live",
        "/health/ready",
    ];

    // So that bodies become smaller when they are packed, and are.
    private static readonly string Padding = new('a', 300);

    private readonly string _json = Canary(),
        _xml = Canary(),
        _form = Canary(),
        _header = Canary(),
        _agent = Canary(),
        _query = Canary(),
        _card = "4000" + Random.Shared.NextInt64(100_000_000_000, 999_999_999_999);
    private DirectoryInfo _folder = null!;
    private SpanReceiver _collector = null!;
    private EchoBackend _outside = null!;

    private protected RunningHost Host { get; private set; } = null!;

    private protected static readonly string[] OfMessages = ["dead_letter", "parked_message", "claim_check"];

    private protected string Data => Path.Combine(_folder.FullName, "esb-data");

    private protected IReadOnlyList<string> Canaries => [_json, _xml, _form, _header, _agent, _card];

    /// <summary>Transport, store and connections.</summary>
    private protected virtual string Sections => "";

    private protected virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    /// <summary>Those of the host, with what only the contract knows.</summary>
    private protected IReadOnlyDictionary<string, string> HostVariables { get; private set; } = new Dictionary<string, string>();

    /// <summary>An endpoint of the name <c>failing</c> that subscribes to bad.# and fails, with a text that quotes the header x-secret, at
    /// the second message at the latest.</summary>
    private protected abstract string Failing { get; }

    /// <summary>What the spans of that endpoint say at least.</summary>
    private protected virtual string Exported => "process bad.one";

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-canary-");
        _collector = await SpanReceiver.StartAsync();
        _outside = await EchoBackend.StartAsync();
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "remake.xsl"), Map);
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              {{Sections}}
              "telemetry": { "logLevel": "trace", "logFolder": "logs" },
              "audit": {
                "bodies": "whole",
                "steps": true,
                "fields": { "order": { "jsonpath": "$.order" }, "password": { "jsonpath": "$.password" }, "card": { "jsonpath": "$.card" }, "secret": { "header": "x-secret" }, "text": { "message": "body" } },
                "masks": [
                  { "jsonpath": "$.password" }, { "jsonpath": "$..card", "action": "last4" }, { "xpath": "//password|//@password", "action": "hash" },
                  { "form": "password" }, { "header": "x-secret", "action": "hash" }, { "header": "user-agent" }
                ],
                "hashKey": "${env:CANARY_KEY}"
              },
              "topics": { "good": {}, "bad": {} },
              "activities": {
                "order": {
                  "key": "order", "data": ["password", "card", "secret", "text"],
                  "milestones": [{ "name": "received", "when": { "kind": "received", "endpoint": "json" } }, { "name": "delivered", "when": { "kind": "delivered", "endpoint": "files" } }]
                }
              },
              "maps": { "remake": "remake.xsl" },
              "processes": {
                "remake": [{ "transform": "remake" }, { "publish": "good.made" }],
                "take": [
                  { "set": { "properties": { "password": { "jsonpath": "$.password" }, "card": { "jsonpath": "$.card" } } } },
                  { "log": { "message": "password {property.password}, card {property.card}, secret {header.x-secret}, body {message.body}", "level": "warning" } },
                  { "audit": { "as": "taken", "body": true, "fields": { "password": { "property": "password" }, "text": { "template": "{message.body} {header.x-secret}" } } } },
                  { "publish": "good.json" }
                ],
                "break": [{ "log": "about to break: {message.body}" }, { "set": { "properties": { "x": { "jsonpath": "$.password" } } } }, { "fail": "It does not please." }]
              },
              "endpoints": {
                "json": { "type": "http-inbound", "path": "/json", "process": "take" },
                "made": { "type": "http-inbound", "path": "/made", "process": "remake" },
                "plain": { "type": "http-inbound", "path": "/plain", "publish": "good.plain" },
                "xml-only": { "type": "http-inbound", "path": "/xml-only", "accept": ["application/xml"], "publish": "good.xml" },
                "broken": { "type": "http-inbound", "path": "/broken", "process": "break" },
                "bad": { "type": "http-inbound", "path": "/bad", "publish": "bad.one" },
                "relayed": { "type": "http-inbound", "path": "/relayed", "relay": "outside", "audit": "headers" },
                "outside": { "type": "http-outbound", "url": "{{_outside.Url}}" },
                "files": { "type": "file-outbound", "subscribe": ["good.#"], "folder": "files", "fileName": "{message.id}.txt" },
                "failing": { {{Failing}}, "subscribe": ["bad.#"], "retry": { "immediate": 1, "delays": [] } }
              }
            }
            """
        );
        HostVariables = new Dictionary<string, string>(Variables)
        {
            ["CANARY_KEY"] = $"key-{Guid.NewGuid():N}",
            ["ESB__TELEMETRY__OTLP"] = _collector.Url,
        };
        Host = await RunningHost.StartAsync("esb.json", _folder.FullName, CancellationToken.None, HostVariables);
        await PrepareAsync();
    }

    [TearDown]
    public async Task StopHost()
    {
        if (Host is { } started)
            await started.DisposeAsync();
        await _collector.DisposeAsync();
        await _outside.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, CancelAfter(180_000)]
    public async Task Masked_secrets_are_in_no_log_fact_table_segment_span_or_answer(CancellationToken cancellationToken)
    {
        var json = $$"""{"order":"A-1","password":"{{_json}}","payment":{"card":"{{_card}}"},"card":{{_card}},"note":"{{Padding}}"}""";
        var xml = $"<o password='{_xml}'><note>{Padding}</note><password><![CDATA[{_xml}]]></password></o>";
        var statuses = new List<HttpStatusCode>
        {
            await SendAsync("/json", json, "application/json", cancellationToken),
            await SendAsync("/plain", xml, "application/xml", cancellationToken),
            await SendAsync("/made", xml, "application/xml", cancellationToken),
            await SendAsync("/plain", $"user=a&password={_form}&note={Padding}", Form, cancellationToken),
            await SendAsync("/plain", json, Form, cancellationToken),
            await SendAsync("/plain", $"password: {_json} {Padding}", "text/plain", cancellationToken),
            await SendAsync(
                "/json",
                $$"""{"note":"{{Padding}}","password":"{{_json}}" "{{_json}}"}""",
                "application/json",
                cancellationToken
            ),
            await SendAsync(
                "/json",
                $$"""{"note":"{{Padding}}","password":"x","{{_json}}":1,"{{_json}}":2}""",
                "application/json",
                cancellationToken
            ),
            await SendAsync("/xml-only", json, "application/json", cancellationToken),
            await SendAsync("/broken", json, "application/json", cancellationToken),
            await SendAsync("/bad", json, "application/json", cancellationToken),
            await SendAsync("/bad", json.Replace("A-1", "A-2", StringComparison.Ordinal), "application/json", cancellationToken),
            await SendAsync($"/relayed?token={_query}", json, "application/json", cancellationToken),
        };
        Assert.That(
            statuses.Select(status => (int)status),
            Is.EqualTo(new[] { 202, 202, 202, 202, 202, 202, 400, 400, 415, 422, 202, 202, 200 }),
            Host.Output
        );
        await Host.WaitAsync(
            async token =>
                await CountAsync("delivered", token) >= 6
                && await CountAsync("dead-lettered", token) >= 1
                && await CountAsync("step-ended", token) >= 2
                && await CountAsync("replied", token) >= 1,
            TimeSpan.FromSeconds(30),
            "to deliver, to give up and to record the relayed request",
            cancellationToken
        );

        var answers = await AnswersAsync(cancellationToken);
        var commands = await CommandsAsync(cancellationToken);
        var letter = (await Host.AskAsync("/api/dead-letters", cancellationToken)).GetProperty("items")[0].GetProperty("id").GetString();
        Assert.That(
            await Host.ReadAsync($"/api/dead-letters/{letter}/body", cancellationToken),
            Does.Contain(_json),
            "the message itself, for whoever may repair it"
        );
        var facts = await SpooledAsync(() => SendAsync("/json", json, "application/json", cancellationToken), cancellationToken);
        await Host.StopAsync(cancellationToken);
        facts =
        [
            .. facts,
            .. Directory
                .EnumerateDirectories(Data, "*", SearchOption.AllDirectories)
                .Where(IsOfFacts)
                .SelectMany(RecordedBytes.ReadFacts)
                .Select(RecordedBytes.TextOf),
        ];
        var rows = await RowsAsync(cancellationToken);

        Assert.That(_outside.LastBody, Is.EqualTo(json), "relays pass everything on");
        Assert.That(
            answers,
            Does.Contain("****").And.Contain("hmac-sha256:").And.Contain("relayed-to"),
            "what is recorded is masked, not missing"
        );
        Assert.That(Host.Output, Does.Contain("password ****, card ****"), "the step log has written its line");
        Assert.That(
            await File.ReadAllTextAsync(Path.Combine(_folder.FullName, "logs", "json.log"), cancellationToken),
            Does.Contain("password ****, card ****"),
            "so it has in the file of its endpoint"
        );
        Assert.That(_collector.Text, Does.Contain("user_agent.original").And.Contain(Exported), "the spans were exported");
        Assert.That(
            facts.Concat(rows),
            Has.Some.Contains(Padding).And.Some.Contains("<made password=\"hmac-sha256:"),
            "bodies can be read there, also of transformed messages"
        );
        using (Assert.EnterMultipleScope())
        {
            AssertClean("the log", Host.Output);
            AssertClean("the answers of the API", answers);
            AssertClean("the command line", commands);
            AssertClean("spans and metrics", _collector.Text);
            foreach (var fact in facts)
                AssertClean("a fact of a segment", fact);
            foreach (var file in RecordedFiles())
                AssertClean(file, Encoding.Latin1.GetString(await File.ReadAllBytesAsync(file, cancellationToken)));
            foreach (var file in Directory.EnumerateFiles(Path.Combine(_folder.FullName, "logs")))
                AssertClean(file, await File.ReadAllTextAsync(file, cancellationToken));
            foreach (var row in rows)
                AssertClean("a row of the store", row);
            foreach (var text in (string[])[answers, commands, _collector.Text, .. facts, .. rows])
                Assert.That(text, Does.Not.Contain(_query), "queries are recorded nowhere"); // libraries log them at the level trace
        }
    }

    /// <summary>What the fixture needs once its host runs.</summary>
    private protected virtual Task PrepareAsync() => Task.CompletedTask;

    /// <summary>The facts, as text, that wait on this machine while their database is away; messages are sent meanwhile.</summary>
    private protected virtual Task<IReadOnlyList<string>> SpooledAsync(
        Func<Task<HttpStatusCode>> send,
        CancellationToken cancellationToken
    ) => Task.FromResult<IReadOnlyList<string>>([]);

    /// <summary>The rows of the store, bodies unpacked, but for those that are the messages themselves.</summary>
    private protected virtual Task<IReadOnlyList<string>> RowsAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<string>>([]);

    private static string Canary() => $"canary{Guid.NewGuid():N}";

    private void AssertClean(string what, string text)
    {
        foreach (var canary in Canaries)
        {
            Assert.That(text, Does.Not.Contain(canary), what);
            Assert.That(text, Does.Not.Contain(Convert.ToBase64String(Encoding.UTF8.GetBytes(canary))[..20]), what);
        }
    }

    // The database has dead letters and parked messages too, which are the messages themselves: it is looked at by its tables.
    private IEnumerable<string> RecordedFiles() =>
        Directory
            .EnumerateFiles(Data, "*", SearchOption.AllDirectories)
            .Where(file => !Path.GetFileName(file).StartsWith("store.db", StringComparison.Ordinal));

    private static bool IsOfFacts(string folder) => Path.GetFileName(folder) is "audit" or "spool" or "refused";

    private async Task<HttpStatusCode> SendAsync(string path, string body, string contentType, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Host.Public, path))
        {
            Content = new ByteArrayContent(Encoding.UTF8.GetBytes(body)),
        };
        request.Content.Headers.ContentType = MediaTypeHeaderValue.Parse(contentType);
        request.Headers.Add("x-secret", _header);
        request.Headers.UserAgent.ParseAdd($"shop/{_agent}");
        using var response = await Host.Client.SendAsync(request, cancellationToken);
        return response.StatusCode;
    }

    private async Task<int> CountAsync(string kind, CancellationToken cancellationToken) =>
        (await Host.AskAsync($"/api/messages?kind={kind}&limit=1000", cancellationToken)).GetProperty("items").GetArrayLength();

    private async Task<string> AnswersAsync(CancellationToken cancellationToken)
    {
        var all = await Host.AskAsync("/api/messages?limit=1000", cancellationToken);
        var answers = new StringBuilder(all.GetRawText());
        var paths = IdsOf(all)
            .SelectMany(id => new[] { "json", "text", "mermaid", "svg" }.Select(format => $"/api/messages/{id}?format={format}"));
        foreach (var path in paths.Concat(Views))
            answers.Append(await Host.ReadAsync(path, cancellationToken));
        Assert.That(answers.ToString(), Does.Contain("sequenceDiagram").And.Contain("<svg").And.Contain("\"milestones\""));
        return answers.ToString();
    }

    private async Task<string> CommandsAsync(CancellationToken cancellationToken)
    {
        var failed = IdsOf(await Host.AskAsync("/api/messages?endpoint=failing&limit=10", cancellationToken)).First();
        var output = new StringBuilder();
        foreach (
            var command in new string[][]
            {
                ["audit", "find", "--json", "--limit", "1000"],
                ["audit", "show", failed!],
                ["dead-letters", "list"],
            }
        )
        {
            var (exitCode, text, error) = await CommandLine.RunAsync(
                _folder.FullName,
                cancellationToken,
                [.. command, "--url", Host.Management.OriginalString]
            );
            Assert.That(exitCode, Is.Zero, $"{string.Join(' ', command)}: {error}");
            output.Append(text).Append(error);
        }

        return output.ToString();
    }

    private static IEnumerable<string?> IdsOf(JsonElement page) =>
        page.GetProperty("items").EnumerateArray().Select(fact => fact.GetProperty("messageId").GetString()).Distinct();
}
