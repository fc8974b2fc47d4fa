using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Recording;

/// <summary>Journeys of messages that no topic ever has: they end where they came in, visibly, although nothing of the messages is
/// recorded; and show what their processes did, where that is asked for.</summary>
[CancelAfter(120_000)]
public abstract class ProcessFactsContract
{
    private const string Map = """
        <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
          <xsl:output omit-xml-declaration="yes"/>
          <xsl:template match="/quote"><ask><xsl:value-of select="@for"/></ask></xsl:template>
        </xsl:stylesheet>
        """;

    private DirectoryInfo _folder = null!;

    private protected EchoBackend Rates { get; private set; } = null!;

    private protected RunningHost Host { get; private set; } = null!;

    /// <summary>Transport and store.</summary>
    private protected virtual string Sections => "";

    /// <summary>When facts count as recorded.</summary>
    private protected abstract string Mode { get; }

    private protected virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    private protected virtual Task StartServersAsync() => Task.CompletedTask;

    private protected virtual Task StopServersAsync() => Task.CompletedTask;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        await StartServersAsync();
        _folder = Directory.CreateTempSubdirectory("esb-process-facts-");
        Rates = await EchoBackend.StartAsync();
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "ask.xsl"), Map);
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              {{Sections}}
              "audit": { "mode": "{{Mode}}", "masks": [{ "header": "x-secret" }] },
              "topics": { "orders": {} },
              "maps": { "ask": "ask.xsl" },
              "processes": {
                "note": [{ "set": { "properties": { "seen": true } } }],
                "price": [{ "respond": { "body": { "price": 12 } } }],
                "order": [{ "publish": "orders.new" }],
                "quote": [{ "id": "to-rates", "transform": "ask" }, { "id": "ask-rates", "call": "rates" }, { "id": "answer", "respond": { "body": "12" } }]
              },
              "endpoints": {
                "notes": { "type": "http-inbound", "path": "/notes", "process": "note" },
                "prices": { "type": "http-inbound", "path": "/prices", "mode": "request-reply", "process": "price" },
                "orders": { "type": "http-inbound", "path": "/orders", "process": "order" },
                "quotes": { "type": "http-inbound", "path": "/quotes", "mode": "request-reply", "process": "quote", "audit": { "bodies": "whole", "at": ["transformed"], "steps": true } },
                "relayed": { "type": "http-inbound", "path": "/relayed", "relay": "rates", "audit": "headers" },
                "rates": { "type": "http-outbound", "url": "{{Rates.Url}}" },
                "files": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "files", "fileName": "{message.id}.txt" }
              }
            }
            """
        );
        Host = await RunningHost.StartAsync("esb.json", _folder.FullName, CancellationToken.None, Variables);
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        if (Host is { } started)
            await started.DisposeAsync();
        await Rates.DisposeAsync();
        await StopServersAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase("/notes", HttpStatusCode.Accepted, "completed"), TestCase("/prices", HttpStatusCode.OK, "replied"), Order(1)]
    public async Task Journey_ends_where_the_message_came_in(
        string path,
        HttpStatusCode status,
        string end,
        CancellationToken cancellationToken
    )
    {
        var journey = await JourneyAsync(path, "{}", status, end, cancellationToken);

        var stages = StagesOf(journey);
        var entry = stages.Single();
        var events = entry.GetProperty("events").EnumerateArray().ToList();
        using (Assert.EnterMultipleScope())
        {
            Assert.That((Text(entry, "kind"), Text(entry, "endpoint"), Text(entry, "state")), Is.EqualTo(("entry", path[1..], end)));
            Assert.That(events.Select(happened => Text(happened, "kind")), Is.EqualTo(new[] { "received", end }));
            Assert.That(events[1].GetProperty("durationSeconds").GetDouble(), Is.GreaterThan(0));
        }
    }

    [Test, Order(1)]
    public async Task What_is_published_needs_no_further_fact(CancellationToken cancellationToken)
    {
        var journey = await JourneyAsync("/orders", "{}", HttpStatusCode.Accepted, "delivered", cancellationToken);

        Assert.That(
            StagesOf(journey)
                .Select(stage =>
                    $"{Text(stage, "kind")}: "
                    + $"{string.Join(' ', stage.GetProperty("events").EnumerateArray().Select(happened => Text(happened, "kind")))}"
                ),
            Is.EqualTo(new[] { "entry: received", "publication: published", "delivery: delivered" })
        );
    }

    [Test, Order(1)]
    public async Task Steps_show_how_long_they_took_and_the_message_before_and_after_its_transformation(CancellationToken cancellationToken)
    {
        var journey = await JourneyAsync("/quotes", """<quote for="A-1"/>""", HttpStatusCode.OK, "replied", cancellationToken);

        var events = StagesOf(journey)
            .SelectMany(stage => stage.GetProperty("events").EnumerateArray().Select(happened => (Stage: stage, Event: happened)))
            .ToList();
        var bodies = journey
            .GetProperty("items")
            .EnumerateArray()
            .Where(fact => Text(fact, "kind") == "step-ended" && Text(fact, "name") is not null)
            .Select(fact => (Text(fact, "name"), Text(fact, "body")));
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                events.Select(at =>
                    (
                        $"{Text(at.Stage, "kind")} {Text(at.Stage, "endpoint")}: {Text(at.Event, "kind")} {Text(at.Event, "step")} "
                        + $"{Text(at.Event, "name")}"
                    ).TrimEnd()
                ),
                Is.EqualTo(
                    new[]
                    {
                        "entry quotes: received",
                        "entry quotes: step-ended to-rates before",
                        "entry quotes: step-ended to-rates after",
                        "entry quotes: step-ended answer",
                        "entry quotes: replied",
                        "call rates: delivered ask-rates",
                    }
                )
            );
            Assert.That(bodies, Is.EqualTo(new[] { ("before", """<quote for="A-1"/>"""), ("after", "<ask>A-1</ask>") }));
            Assert.That(events[^1].Event.GetProperty("durationSeconds").GetDouble(), Is.GreaterThan(0));
            Assert.That(
                (await Host.AskAsync("/api/messages?kind=step-ended&endpoint=quotes", cancellationToken))
                    .GetProperty("items")
                    .GetArrayLength(),
                Is.EqualTo(3)
            );
        }
    }

    [Test, Order(1)]
    public async Task Relay_that_is_audited_shows_who_asked_whom_and_what_the_answer_was(CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Host.Public, "/relayed?token=hunter2"))
        {
            Content = new StringContent("""{ "card": "4111111111111111" }"""),
        };
        request.Headers.Add("X-Order", "A-1");
        request.Headers.Add("X-Secret", "hunter2");

        using var response = await Host.Client.SendAsync(request, cancellationToken);
        var journey = await JourneyAsync(response, HttpStatusCode.OK, "replied", cancellationToken);

        var facts = journey.GetProperty("items").EnumerateArray().ToList();
        var entry = StagesOf(journey).Single();
        var found = await Host.AskAsync(
            "/api/messages?endpoint=relayed&kind=replied&where=relayed-to%3Drates&where=status%3D200",
            cancellationToken
        );
        using (Assert.EnterMultipleScope())
        {
            Assert.That((Text(entry, "kind"), Text(entry, "endpoint")), Is.EqualTo(("entry", "relayed")));
            Assert.That(facts.Select(fact => Text(fact, "kind")), Is.EqualTo(new[] { "received", "replied" }));
            Assert.That(facts.Select(fact => Text(fact, "traceId")), Has.All.Not.Null);
            Assert.That(
                FieldsOf(facts[0], "fields"),
                Is.EquivalentTo(new[] { ("method", "POST"), ("path", "/relayed"), ("relayed-to", "rates") })
            );
            Assert.That(FieldsOf(facts[0], "headers"), Is.EquivalentTo(new[] { ("X-Order", "A-1") }).IgnoreCase);
            Assert.That(FieldsOf(facts[1], "fields"), Is.EquivalentTo(new[] { ("relayed-to", "rates"), ("status", "200") }));
            Assert.That(facts[1].GetProperty("durationSeconds").GetDouble(), Is.GreaterThan(0));
            Assert.That(
                found.GetProperty("items").EnumerateArray().Single().GetProperty("id").GetGuid(),
                Is.EqualTo(facts[1].GetProperty("id").GetGuid())
            );
            Assert.That(journey.GetRawText() + Host.Output, Does.Not.Contain("hunter2").And.Not.Contain("4111"));
            Assert.That(Rates.LastBody, Does.Contain("4111111111111111"));
        }
    }

    private static IEnumerable<(string, string?)> FieldsOf(JsonElement fact, string name) =>
        fact.GetProperty(name).EnumerateObject().Select(field => (field.Name, field.Value.GetString()));

    private static IReadOnlyList<JsonElement> StagesOf(JsonElement journey) =>
        [.. journey.GetProperty("messages").EnumerateArray().Single().GetProperty("stages").EnumerateArray()];

    private async Task<JsonElement> JourneyAsync(
        string path,
        string body,
        HttpStatusCode status,
        string state,
        CancellationToken cancellationToken
    )
    {
        using var response = await Host.PostAsync(path, body, body[0] == '<' ? "application/xml" : "application/json", cancellationToken);
        return await JourneyAsync(response, status, state, cancellationToken);
    }

    private async Task<JsonElement> JourneyAsync(
        HttpResponseMessage response,
        HttpStatusCode status,
        string state,
        CancellationToken cancellationToken
    )
    {
        Assert.That(response.StatusCode, Is.EqualTo(status), Host.Output);
        var id = response.Headers.GetValues("Esb-Message-Id").Single();
        JsonElement? journey = null;
        await Host.WaitAsync(
            async token => (journey = await Host.FindAsync($"/api/messages/{id}", token)) is { } found && Text(found, "state") == state,
            TimeSpan.FromSeconds(30),
            $"to show that {id} is {state}",
            cancellationToken
        );
        return journey!.Value;
    }

    private static string? Text(JsonElement thing, string name) => thing.TryGetProperty(name, out var value) ? value.GetString() : null;
}
