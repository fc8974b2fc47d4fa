using System.Net;
using System.Text.Json;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Journeys of messages that no topic ever has: they end where they came in, visibly, although nothing of the messages is recorded.</summary>
[CancelAfter(120_000)]
public abstract class ProcessFactsContract
{
    private DirectoryInfo _folder = null!;

    private HostProcess Host { get; set; } = null!;

    /// <summary>Transport and store.</summary>
    private protected virtual string Sections => "";

    /// <summary>When facts count as recorded.</summary>
    private protected abstract string Mode { get; }

    private protected virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-process-facts-");
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "esb.json"), $$"""
            {
              {{Sections}}
              "audit": { "mode": "{{Mode}}" },
              "topics": { "orders": {} },
              "processes": {
                "note": [{ "set": { "properties": { "seen": true } } }],
                "price": [{ "respond": { "body": { "price": 12 } } }],
                "order": [{ "publish": "orders.new" }]
              },
              "endpoints": {
                "notes": { "type": "http-inbound", "path": "/notes", "process": "note" },
                "prices": { "type": "http-inbound", "path": "/prices", "mode": "request-reply", "process": "price" },
                "orders": { "type": "http-inbound", "path": "/orders", "process": "order" },
                "files": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "files", "fileName": "{message.id}.txt" }
              }
            }
            """);
        Host = await HostProcess.StartAsync("esb.json", _folder.FullName, CancellationToken.None, Variables);
    }

    [TearDown]
    public async Task StopHost()
    {
        if (Host is { } started) await started.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase("/notes", HttpStatusCode.Accepted, "completed"), TestCase("/prices", HttpStatusCode.OK, "replied")]
    public async Task Journey_ends_where_the_message_came_in(string path, HttpStatusCode status, string end, CancellationToken cancellationToken)
    {
        var stages = await JourneyAsync(path, status, end, cancellationToken);

        var entry = stages.Single();
        var events = entry.GetProperty("events").EnumerateArray().ToList();
        using (Assert.EnterMultipleScope())
        {
            Assert.That((Text(entry, "kind"), Text(entry, "endpoint"), Text(entry, "state")), Is.EqualTo(("entry", path[1..], end)));
            Assert.That(events.Select(happened => Text(happened, "kind")), Is.EqualTo(new[] { "received", end }));
            Assert.That(events[1].GetProperty("durationSeconds").GetDouble(), Is.GreaterThan(0));
        }
    }

    [Test]
    public async Task What_is_published_needs_no_further_fact(CancellationToken cancellationToken)
    {
        var stages = await JourneyAsync("/orders", HttpStatusCode.Accepted, "delivered", cancellationToken);

        Assert.That(stages.Select(stage => $"{Text(stage, "kind")}: {string.Join(' ', stage.GetProperty("events").EnumerateArray().Select(happened => Text(happened, "kind")))}"),
            Is.EqualTo(new[] { "entry: received", "publication: published", "delivery: delivered" }));
    }

    private async Task<IReadOnlyList<JsonElement>> JourneyAsync(string path, HttpStatusCode status, string state, CancellationToken cancellationToken)
    {
        using var response = await Host.PostAsync(path, "{}", "application/json", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(status), Host.Output);
        var id = response.Headers.GetValues("Esb-Message-Id").Single();
        JsonElement? journey = null;
        await Host.WaitAsync(
            async token => (journey = await Host.FindAsync($"/api/messages/{id}", token)) is { } found && Text(found, "state") == state,
            TimeSpan.FromSeconds(30), $"to show that {id} is {state}", cancellationToken);
        return [.. journey!.Value.GetProperty("messages").EnumerateArray().Single().GetProperty("stages").EnumerateArray()];
    }

    private static string? Text(JsonElement thing, string name) => thing.TryGetProperty(name, out var value) ? value.GetString() : null;
}
