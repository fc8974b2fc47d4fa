using System.Net;
using System.Text.Json;
using Esb.Core.Messages;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Endpoints that work on what is on a topic: what they publish, answer, pass over and fail at.</summary>
[CancelAfter(120_000)]
public abstract class ProcessEndpointContract
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(40);

    private DirectoryInfo _folder = null!;
    private EchoBackend _backend = null!;

    private protected RunningHost Host { get; private set; } = null!;

    /// <summary>Transport and store.</summary>
    private protected abstract string Sections { get; }

    private protected virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    private protected EchoBackend Backend => _backend;

    [TearDown]
    public async Task StopHost()
    {
        if (Host is { } started)
            await started.DisposeAsync();
        await _backend.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [TestCase("parallel"), TestCase("ordered", Category = "Thorough"), TestCase("ordered-by-key", Category = "Thorough")]
    public async Task Every_message_of_the_topic_is_worked_on(string delivery, CancellationToken cancellationToken)
    {
        await StartAsync(delivery, cancellationToken);
        var ids = new List<Guid>();
        for (var i = 0; i < 20; i++)
            ids.Add(await OrderAsync("{}", cancellationToken));

        await WaitForFilesAsync(40, cancellationToken);
        var bills = ids.Select(id => MessageIds.Derive(id, "billing bill")).ToList();
        var expected = bills.Concat(bills.Select(id => MessageIds.Derive(id, "copy")));
        Assert.That(Files(), Is.EquivalentTo(expected.Select(id => $"{id}.txt")), "ids follow from the endpoint, the step and the message");
    }

    [Test]
    public async Task Journey_of_a_message_goes_on_through_the_endpoint_or_ends_there_as_filtered(CancellationToken cancellationToken)
    {
        await StartAsync("parallel", cancellationToken);
        var id = await OrderAsync("{}", cancellationToken);

        var journey = await JourneyAsync(id, "delivered", cancellationToken);
        var facts = journey.GetProperty("items").EnumerateArray().ToList();
        var stages = StagesOf(journey).Select(stage => (Text(stage, "kind"), Text(stage, "endpoint"))).ToList();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(facts.Select(fact => Text(fact, "conversationId")).Distinct(), Is.EqualTo(new[] { id.ToString() }));
            Assert.That(
                facts
                    .Where(fact => Text(fact, "kind") == "published" && Text(fact, "endpoint") == "billing")
                    .Select(fact => (Text(fact, "causedBy"), Text(fact, "process"), Text(fact, "step"))),
                Is.EquivalentTo(new[] { (id.ToString(), "bill", "bill"), (id.ToString(), "bill", "copy") })
            );
            Assert.That(
                stages,
                Does.Contain(("entry", "door"))
                    .And.Contain(("delivery", "billing"))
                    .And.Contain(("publication", "billing"))
                    .And.Contain(("delivery", "bills"))
            );
            Assert.That(stages, Does.Not.Contain(("entry", "billing")));
        }

        await WaitForFilesAsync(2, cancellationToken);
        var skipped = await OrderAsync("""{ "skip": true }""", cancellationToken);
        await JourneyAsync(skipped, "filtered", cancellationToken);
        Assert.That(Files(), Has.Count.EqualTo(2), "none of what is filtered");
    }

    [Test]
    public async Task Message_that_the_process_refuses_becomes_a_dead_letter_with_the_step_that_failed(CancellationToken cancellationToken)
    {
        await StartAsync("parallel", cancellationToken);
        var id = await OrderAsync("""{ "bad": true }""", cancellationToken);

        JsonElement letter = default;
        await Host.WaitAsync(
            async token =>
                (await Host.AskAsync("/api/dead-letters?endpoint=billing", token)).GetProperty("items").EnumerateArray().ToList()
                    is [var found]
                && (letter = found).ValueKind == JsonValueKind.Object,
            Limit,
            "to keep a dead letter",
            cancellationToken
        );
        var failed = (await JourneyAsync(id, "dead-lettered", cancellationToken))
            .GetProperty("items")
            .EnumerateArray()
            .First(fact => Text(fact, "kind") == "failed");
        using (Assert.EnterMultipleScope())
        {
            Assert.That((Text(letter, "code"), letter.GetProperty("attempts").GetInt32()), Is.EqualTo(("SHOP-BAD", 1)));
            Assert.That(Text(letter, "reason"), Is.EqualTo("not this one"));
            Assert.That((Text(failed, "endpoint"), Text(failed, "step")), Is.EqualTo(("billing", "refuse")));
        }
    }

    [Test]
    public async Task Request_is_answered_by_what_the_process_came_to(CancellationToken cancellationToken)
    {
        await StartAsync("parallel", cancellationToken);

        await AssertAnswerAsync("{}", HttpStatusCode.OK, "priced");
        await AssertAnswerAsync("""{ "skip": true }""", HttpStatusCode.NoContent, "");
        await AssertAnswerAsync("""{ "gone": true }""", HttpStatusCode.Gone, "sold out");
        await AssertAnswerAsync("""{ "bad": true }""", HttpStatusCode.Conflict, "not this one");

        async Task AssertAnswerAsync(string body, HttpStatusCode status, string answer)
        {
            using var response = await Host.PostAsync("/quotes", body, "application/json", cancellationToken);
            Assert.That(response.StatusCode, Is.EqualTo(status), Host.Output);
            Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain(answer), body);
        }
    }

    private protected async Task StartAsync(string delivery, CancellationToken cancellationToken)
    {
        _folder = Directory.CreateTempSubdirectory("esb-process-endpoint-");
        _backend = await EchoBackend.StartAsync();
        var capacity = delivery == "ordered" ? "" : "\"poolSize\": 4, \"processingThreads\": 4,";
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              {{Sections}}
              "topics": { "orders": { "key": { "jsonpath": "$.customer" } }, "bills": {}, "quotes": {} },
              "processes": {
                "bill": [
                  { "filter": { "not": { "jsonpath": "$.skip" } } },
                  { "choose": { "when": [{ "if": { "jsonpath": "$.bad" }, "steps": [{ "id": "refuse", "fail": { "code": "SHOP-BAD", "status": 409, "reason": "not this one" } }] }] } },
                  { "id": "bill", "publish": "bills.new" },
                  { "id": "ask", "call": "backend" },
                  { "id": "copy", "publish": "bills.copy" }
                ],
                "quote": [
                  { "filter": { "not": { "jsonpath": "$.skip" } } },
                  { "choose": { "when": [
                    { "if": { "jsonpath": "$.bad" }, "steps": [{ "fail": { "code": "SHOP-BAD", "status": 409, "reason": "not this one" } }] },
                    { "if": { "jsonpath": "$.gone" }, "steps": [{ "respond": { "status": 410, "body": "sold out" } }] } ] } },
                  { "respond": { "body": "priced" } }
                ]
              },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "ask": { "type": "http-inbound", "path": "/quotes", "mode": "request-reply", "publish": "quotes.new" },
                "billing": { "type": "process", "subscribe": ["orders.#"], "process": "bill", {{capacity}} "delivery": "{{delivery}}", "retry": { "delays": ["100ms", "200ms", "1s"] } },
                "quoting": { "type": "process", "subscribe": ["quotes.#"], "process": "quote" },
                "backend": { "type": "http-outbound", "url": "{{_backend.Url}}", "poolSize": 8 },
                "bills": { "type": "file-outbound", "subscribe": ["bills.#"], "folder": "bills", "fileName": "{message.id}.txt" }
              }
            }
            """,
            cancellationToken
        );
        await StartHostAsync(cancellationToken);
    }

    private protected async Task StartHostAsync(CancellationToken cancellationToken) =>
        Host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);

    private protected async Task<Guid> OrderAsync(string body, CancellationToken cancellationToken)
    {
        using var response = await Host.PostAsync("/orders", body, "application/json", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), Host.Output);
        return Guid.Parse(response.Headers.GetValues("Esb-Message-Id").Single());
    }

    private protected Task WaitForFilesAsync(int count, CancellationToken cancellationToken) =>
        Host.WaitAsync(_ => Task.FromResult(Files().Count >= count), Limit, $"to write {count} files", cancellationToken);

    private protected IReadOnlyList<string> Files()
    {
        var folder = Path.Combine(_folder.FullName, "bills");
        return Directory.Exists(folder) ? [.. Directory.GetFiles(folder, "*.txt").Select(file => Path.GetFileName(file)!)] : [];
    }

    private async Task<JsonElement> JourneyAsync(Guid id, string state, CancellationToken cancellationToken)
    {
        JsonElement? journey = null;
        await Host.WaitAsync(
            async token => (journey = await Host.FindAsync($"/api/messages/{id}", token)) is { } found && Text(found, "state") == state,
            Limit,
            $"to show that {id} is {state}",
            cancellationToken
        );
        return journey!.Value;
    }

    private static IEnumerable<JsonElement> StagesOf(JsonElement owner) =>
        owner.GetProperty("messages").EnumerateArray().SelectMany(MessageStages);

    private static IEnumerable<JsonElement> MessageStages(JsonElement message) =>
        message
            .GetProperty("stages")
            .EnumerateArray()
            .Concat(message.TryGetProperty("caused", out var inner) ? inner.EnumerateArray().SelectMany(MessageStages) : []);

    private static string? Text(JsonElement thing, string name) => thing.TryGetProperty(name, out var value) ? value.GetString() : null;
}
