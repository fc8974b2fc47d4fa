using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>JSON Schemas in a whole host: in a step, at a topic, and changed while it runs.</summary>
[CancelAfter(120_000)]
public sealed class JsonSchemaTests
{
    private const string Configuration = """
        {
          "name": "schemas",
          "schemas": { "order": "schemas/order.schema.json", "event": { "file": "schemas/event.schema.json", "formats": "assert" } },
          "topics": { "events": { "schema": "event" } },
          "endpoints": {
            "orders": { "type": "http-inbound", "path": "/orders", "mode": "request-reply", "process": "check" },
            "events": { "type": "http-inbound", "path": "/events", "publish": "events.new" },
            "box": { "type": "file-outbound", "subscribe": ["events.#"], "folder": "out", "fileName": "{message.id}.json" }
          },
          "processes": { "check": [{ "validate": "order" }, { "respond": { "status": 200, "body": "fine" } }] }
        }
        """;

    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder()
    {
        _folder = Directory.CreateTempSubdirectory("esb-schemas-");
        _folder.CreateSubdirectory("schemas");
        _folder.CreateSubdirectory("out");
        Write("esb.json", Configuration);
        Write("schemas/order.schema.json", """{ "required": ["id"], "properties": { "lines": { "items": { "$ref": "line.json" } } } }""");
        Write("schemas/line.json", """{ "properties": { "quantity": { "type": "integer", "minimum": 1 } } }""");
        Write("schemas/event.schema.json", """{ "properties": { "at": { "format": "date-time" } }, "unevaluatedProperties": false }""");
    }

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task Order_that_breaks_the_schema_is_refused_with_the_places(CancellationToken cancellationToken)
    {
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken);

        var (status, text) = await AskAsync(
            host,
            "/orders",
            """{ "lines": [{ "quantity": 1 }, { "quantity": 0.5 }] }""",
            cancellationToken
        );
        var fitting = await AskAsync(host, "/orders", """{ "id": 1, "lines": [{ "quantity": 1 }] }""", cancellationToken);

        Assert.That(status, Is.EqualTo(HttpStatusCode.UnprocessableEntity), text);
        using var problem = JsonDocument.Parse(text);
        Assert.That(problem.RootElement.GetProperty("code").GetString(), Is.EqualTo("ESB-JSON-SCHEMA"));
        Assert.That(
            problem.RootElement.GetProperty("detail").GetString(),
            Does.Contain("3 places")
                .And.Contain("line 1, column 1: the document: lacks \"id\" (required)")
                .And.Contain("/lines/1/quantity: is not an integer (type)")
                .And.Contain("is less than 1")
        );
        Assert.That(fitting.Status, Is.EqualTo(HttpStatusCode.OK), fitting.Text);
    }

    [Test]
    public async Task Topic_takes_what_its_schema_accepts_and_nothing_else(CancellationToken cancellationToken)
    {
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken);

        var refused = await AskAsync(host, "/events", """{ "at": "noon" }""", cancellationToken);
        var unknown = await AskAsync(host, "/events", """{ "at": "2026-11-23T12:00:00Z", "more": 1 }""", cancellationToken);
        var accepted = await AskAsync(host, "/events", """{ "at": "2026-11-23T12:00:00Z" }""", cancellationToken);

        Assert.That(
            (refused.Status, unknown.Status, accepted.Status),
            Is.EqualTo((HttpStatusCode.UnprocessableEntity, HttpStatusCode.UnprocessableEntity, HttpStatusCode.Accepted)),
            host.Output
        );
        Assert.That(
            refused.Text,
            Does.Contain("ESB-JSON-SCHEMA").And.Contain("/at: is not in the format date-time").And.Not.Contain("noon")
        );
        await host.WaitAsync(
            _ => Task.FromResult(Directory.GetFiles(Path.Combine(_folder.FullName, "out")).Length == 1),
            TimeSpan.FromSeconds(30),
            "to deliver one event",
            cancellationToken
        );
    }

    [Test]
    public async Task Changed_schema_is_in_use_without_a_restart_and_a_broken_one_is_told(CancellationToken cancellationToken)
    {
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken);
        const string Half = """{ "id": 1, "lines": [{ "quantity": 0.5 }] }""";

        Write("schemas/line.json", """{ "properties": { "quantity": { "type": "number!" } } }""");
        await host.WaitAsync(
            async token => (await ReadinessAsync(host, token)).Contains("ESB-CFG-RELOAD schema order", StringComparison.Ordinal),
            TimeSpan.FromSeconds(30),
            "to tell of the broken schema",
            cancellationToken
        );
        Assert.That(
            (await AskAsync(host, "/orders", Half, cancellationToken)).Status,
            Is.EqualTo(HttpStatusCode.UnprocessableEntity),
            "the schema before stays in use"
        );

        Write("schemas/line.json", """{ "properties": { "quantity": { "type": "number" } } }""");
        await host.WaitAsync(
            async token => (await AskAsync(host, "/orders", Half, token)).Status == HttpStatusCode.OK,
            TimeSpan.FromSeconds(30),
            "to take the sound schema",
            cancellationToken
        );

        Assert.That(await ReadinessAsync(host, cancellationToken), Does.Not.Contain("ESB-CFG-RELOAD"));
    }

    private static Task<string> ReadinessAsync(RunningHost host, CancellationToken cancellationToken) =>
        host.ReadAsync("/health/ready", cancellationToken);

    private static async Task<(HttpStatusCode Status, string Text)> AskAsync(
        RunningHost host,
        string path,
        string body,
        CancellationToken cancellationToken
    )
    {
        using var response = await host.PostAsync(path, body, "application/json", cancellationToken);
        return (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken));
    }

    private void Write(string name, string text) => File.WriteAllText(Path.Combine(_folder.FullName, name), text);
}
