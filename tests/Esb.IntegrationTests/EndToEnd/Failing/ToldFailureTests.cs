using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>Operators see why an external system was not reached and what it answered, in log, API, audit and dead letters; callers do
/// not.</summary>
[CancelAfter(120_000)]
public sealed class ToldFailureTests
{
    private readonly int _closed = FreePorts.Next();
    private DirectoryInfo _folder = null!;
    private HttpListener _partner = null!;
    private RunningHost _host = null!;

    [OneTimeSetUp]
    public async Task Start()
    {
        _folder = Directory.CreateTempSubdirectory("esb-told-");
        var partner = $"http://127.0.0.1:{FreePorts.Next()}/";
        _partner = new HttpListener();
        _partner.Prefixes.Add(partner);
        _partner.Start();
        _ = AnswerAsync();
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            { "name": "told", "topics": { "orders": {}, "esb-events": {} },
              "endpoints": {
                "ask": { "type": "http-inbound", "path": "/ask", "mode": "request-reply", "process": "ask" },
                "order": { "type": "http-inbound", "path": "/order", "publish": "orders.new" },
                "checked": { "type": "http-inbound", "path": "/checked", "process": "check" },
                "alarm": { "type": "file-outbound", "subscribe": ["esb-events.#"], "folder": "alarms", "fileName": "{message.id}.json" },
                "gone": { "type": "http-outbound", "url": "http://127.0.0.1:{{_closed}}/x" },
                "partner": { "type": "http-outbound", "url": "{{partner}}", "subscribe": ["orders.#"], "retry": { "immediate": 0, "delays": [] } } },
              "processes": {
                "ask": [{ "call": "gone" }],
                "check": [{ "choose": { "when": [{ "if": { "jsonpath": "$.id", "exists": false }, "steps": [{ "fail": "The order has no id." }] }], "otherwise": [{ "publish": "orders.new" }] } }] } }
            """
        );
        _host = await RunningHost.StartAsync("esb.json", _folder.FullName, CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task Stop()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        _partner.Close();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Refused_connection_is_told_with_address_and_cause_to_operators_alone(CancellationToken cancellationToken)
    {
        using var answer = await _host.PostAsync("/ask", "{}", "application/json", cancellationToken);

        var told = $"http://127.0.0.1:{_closed}: the connection was refused.";
        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.BadGateway));
        Assert.That(
            await answer.Content.ReadAsStringAsync(cancellationToken),
            Does.Contain("ESB-HTTP-UNREACHABLE").And.Not.Contain($"{_closed}")
        );
        await _host.WaitAsync(
            _ => Task.FromResult(_host.Output.Contains(told, StringComparison.Ordinal)),
            TimeSpan.FromSeconds(30),
            "to log the cause",
            cancellationToken
        );
        var endpoints = (await _host.AskAsync("/api/endpoints", cancellationToken)).GetProperty("items").EnumerateArray();
        Assert.That(
            endpoints.Single(endpoint => endpoint.GetProperty("name").GetString() == "gone").GetProperty("failures").GetInt64(),
            Is.EqualTo(1)
        );
        var facts = await _host.AskAsync("/api/messages?endpoint=ask&kind=failed", cancellationToken);
        Assert.That(facts.GetProperty("items")[0].GetProperty("reason").GetString(), Does.EndWith(told));
    }

    [Test]
    public async Task Answer_of_a_partner_is_in_the_dead_letter_and_the_log(CancellationToken cancellationToken)
    {
        using var answer = await _host.PostAsync("/order", "{}", "application/json", cancellationToken);

        await _host.WaitAsync(
            async token => (await _host.AskAsync("/api/dead-letters?endpoint=partner", token)).GetProperty("items").GetArrayLength() > 0,
            TimeSpan.FromSeconds(30),
            "to give up",
            cancellationToken
        );
        var letter = (await _host.AskAsync("/api/dead-letters?endpoint=partner", cancellationToken)).GetProperty("items")[0];
        Assert.That(letter.GetProperty("reason").GetString(), Does.EndWith("was answered with status 422. It answered: no such customer"));
        await _host.WaitForLogAsync(cancellationToken, "ESB-HTTP-STATUS", "It answered: no such customer");
    }

    [Test]
    public async Task Dead_letter_raises_an_alert_that_an_endpoint_takes(CancellationToken cancellationToken)
    {
        using var answer = await _host.PostAsync("/order", "{}", "application/json", cancellationToken);

        var folder = Path.Combine(_folder.FullName, "alarms");
        await _host.WaitAsync(
            _ => Task.FromResult(Directory.Exists(folder) && Directory.GetFiles(folder, "*.json").Length > 0),
            TimeSpan.FromSeconds(30),
            "to raise an alert",
            cancellationToken
        );
        var alert = JsonDocument.Parse(await File.ReadAllTextAsync(Directory.GetFiles(folder, "*.json")[0], cancellationToken)).RootElement;
        Assert.That(
            (
                alert.GetProperty("kind").GetString(),
                alert.GetProperty("name").GetString(),
                alert.GetProperty("endpoint").GetString(),
                alert.GetProperty("code").GetString()
            ),
            Is.EqualTo(("dead-letter", "told", "partner", "ESB-HTTP-STATUS"))
        );
        Assert.That(alert.GetProperty("reason").GetString(), Does.EndWith("It answered: no such customer"));
    }

    [Test]
    public async Task Failure_that_callers_cause_is_logged_once(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 5; i++)
        {
            using var answer = await _host.PostAsync("/checked", """{ "amount": 1 }""", "application/json", cancellationToken);
            Assert.That(
                answer.StatusCode,
                Is.EqualTo(HttpStatusCode.UnprocessableEntity),
                await answer.Content.ReadAsStringAsync(cancellationToken)
            );
        }

        await _host.WaitAsync(
            _ => Task.FromResult(_host.Output.Contains("The order has no id.", StringComparison.Ordinal)),
            TimeSpan.FromSeconds(30),
            "to log the refusal",
            cancellationToken
        );
        Assert.That(
            _host.Output.Split('\n').Where(line => line.Contains("The order has no id.", StringComparison.Ordinal)),
            Has.Some.Contains(" info ").And.Some.Contains("of checked was refused")
        );
    }

    private async Task AnswerAsync()
    {
        while (_partner.IsListening)
        {
            try
            {
                var context = await _partner.GetContextAsync();
                context.Response.StatusCode = 422;
                context.Response.Close("no such customer"u8.ToArray(), willBlock: true);
            }
            catch (Exception ex) when (ex is HttpListenerException or ObjectDisposedException)
            {
                return; // closed by the end of the tests
            }
        }
    }
}
