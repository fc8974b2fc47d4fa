using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Esb.Tests;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Secrets that the configuration masks, in messages that arrive, are refused, fail and end as dead letters: they are in the messages, and nowhere else.</summary>
[Property("Case", "AUD-02")]
public abstract class CanaryContract
{
    private const string Form = "application/x-www-form-urlencoded";

    private readonly string _json = Canary(), _xml = Canary(), _form = Canary(), _header = Canary(), _agent = Canary(), _card = "4000" + Random.Shared.NextInt64(100_000_000_000, 999_999_999_999);
    private DirectoryInfo _folder = null!;
    private SpanReceiver _collector = null!;

    private HostProcess Host { get; set; } = null!;

    private protected IReadOnlyList<string> Canaries => [_json, _xml, _form, _header, _agent, _card];

    /// <summary>Transport, store and connections.</summary>
    private protected virtual string Sections => "";

    private protected virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    /// <summary>An endpoint of the name <c>failing</c> that subscribes to bad.# and fails, with a text that quotes the header x-secret, at the second message at the latest.</summary>
    private protected abstract string Failing { get; }

    /// <summary>What the spans of that endpoint say at least.</summary>
    private protected virtual string Exported => "process bad.one";

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-canary-");
        _collector = await SpanReceiver.StartAsync();
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "esb.json"), $$"""
            {
              {{Sections}}
              "telemetry": { "logLevel": "trace" },
              "audit": {
                "bodies": "whole",
                "fields": { "password": { "jsonpath": "$.password" }, "card": { "jsonpath": "$.card" }, "secret": { "header": "x-secret" }, "text": { "message": "body" } },
                "masks": [
                  { "jsonpath": "$.password" }, { "jsonpath": "$..card", "action": "last4" }, { "xpath": "//password|//@password", "action": "hash" },
                  { "form": "password" }, { "header": "x-secret", "action": "hash" }, { "header": "user-agent" }
                ],
                "hashKey": "${env:CANARY_KEY}"
              },
              "topics": { "good": {}, "bad": {} },
              "processes": {
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
                "plain": { "type": "http-inbound", "path": "/plain", "publish": "good.plain" },
                "xml-only": { "type": "http-inbound", "path": "/xml-only", "accept": ["application/xml"], "publish": "good.xml" },
                "broken": { "type": "http-inbound", "path": "/broken", "process": "break" },
                "bad": { "type": "http-inbound", "path": "/bad", "publish": "bad.one" },
                "files": { "type": "file-outbound", "subscribe": ["good.#"], "folder": "files", "fileName": "{message.id}.txt" },
                "failing": { {{Failing}}, "subscribe": ["bad.#"], "retry": { "immediate": 1, "delays": [] } }
              }
            }
            """);
        var variables = new Dictionary<string, string>(Variables) { ["CANARY_KEY"] = $"key-{Guid.NewGuid():N}", ["ESB__TELEMETRY__OTLP"] = _collector.Url };
        Host = await HostProcess.StartAsync("esb.json", _folder.FullName, CancellationToken.None, variables);
    }

    [TearDown]
    public async Task StopHost()
    {
        if (Host is { } started) await started.DisposeAsync();
        await _collector.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, CancelAfter(120_000)]
    public async Task Masked_secrets_are_in_no_log_fact_table_segment_span_or_answer(CancellationToken cancellationToken)
    {
        var json = $$"""{"order":"A-1","password":"{{_json}}","payment":{"card":"{{_card}}"},"card":{{_card}}}""";
        var statuses = new List<HttpStatusCode>
        {
            await SendAsync("/json", json, "application/json", cancellationToken),
            await SendAsync("/plain", $"<o password='{_xml}'><password><![CDATA[{_xml}]]></password></o>", "application/xml", cancellationToken),
            await SendAsync("/plain", $"user=a&password={_form}", Form, cancellationToken),
            await SendAsync("/plain", json, Form, cancellationToken),
            await SendAsync("/plain", $"password: {_json}", "text/plain", cancellationToken),
            await SendAsync("/json", $$"""{"password":"{{_json}}" "{{_json}}"}""", "application/json", cancellationToken),
            await SendAsync("/json", $$"""{"password":"x","{{_json}}":1,"{{_json}}":2}""", "application/json", cancellationToken),
            await SendAsync("/xml-only", json, "application/json", cancellationToken),
            await SendAsync("/broken", json, "application/json", cancellationToken),
            await SendAsync("/bad", json, "application/json", cancellationToken),
            await SendAsync("/bad", json.Replace("A-1", "A-2", StringComparison.Ordinal), "application/json", cancellationToken),
        };
        Assert.That(statuses.Select(status => (int)status), Is.EqualTo(new[] { 202, 202, 202, 202, 202, 400, 400, 415, 422, 202, 202 }), Host.Output);
        await Host.WaitAsync(async token => await CountAsync("delivered", token) >= 5 && await CountAsync("dead-lettered", token) >= 1, TimeSpan.FromSeconds(30), "to deliver and to give up", cancellationToken);

        var answers = await AnswersAsync(cancellationToken);
        await Host.StopAsync(cancellationToken);

        Assert.That(answers, Does.Contain("****").And.Contain("hmac-sha256:"), "what is recorded is masked, not missing");
        Assert.That(Host.Output, Does.Contain("password ****, card ****"), "the step log has written its line");
        Assert.That(_collector.Text, Does.Contain("user_agent.original").And.Contain(Exported), "the spans were exported");
        using (Assert.EnterMultipleScope())
        {
            AssertClean("the log", Host.Output);
            AssertClean("the answers of the API", answers);
            AssertClean("spans and metrics", _collector.Text);
            foreach (var file in RecordedFiles()) AssertClean(file, Encoding.Latin1.GetString(await File.ReadAllBytesAsync(file, cancellationToken)));
            foreach (var row in await RowsAsync(cancellationToken)) AssertClean("a row of the audit", row);
        }
    }

    /// <summary>The rows of the tables of the audit.</summary>
    private protected virtual Task<IReadOnlyList<string>> RowsAsync(CancellationToken cancellationToken) => Task.FromResult<IReadOnlyList<string>>([]);

    private static string Canary() => $"canary{Guid.NewGuid():N}";

    private void AssertClean(string what, string text)
    {
        foreach (var canary in Canaries)
        {
            Assert.That(text, Does.Not.Contain(canary), what);
            Assert.That(text, Does.Not.Contain(Convert.ToBase64String(Encoding.UTF8.GetBytes(canary))[..20]), what);
        }
    }

    // Dead letters and parked messages are the messages themselves.
    private IEnumerable<string> RecordedFiles() => Directory.EnumerateFiles(Path.Combine(_folder.FullName, "esb-data"), "*", SearchOption.AllDirectories)
        .Where(file => !file.Contains("dead-letters", StringComparison.Ordinal) && !file.Contains("parked", StringComparison.Ordinal));

    private async Task<HttpStatusCode> SendAsync(string path, string body, string contentType, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Host.Public, path)) { Content = new ByteArrayContent(Encoding.UTF8.GetBytes(body)) };
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
        foreach (var id in all.GetProperty("items").EnumerateArray().Select(fact => fact.GetProperty("messageId").GetString()).Distinct())
            answers.Append((await Host.AskAsync($"/api/messages/{id}", cancellationToken)).GetRawText());
        foreach (var path in (string[])["/api/endpoints", "/api/topics", "/api/configuration", "/health/ready"])
            answers.Append((await Host.FindAsync(path, cancellationToken))?.GetRawText());
        return answers.ToString();
    }
}
