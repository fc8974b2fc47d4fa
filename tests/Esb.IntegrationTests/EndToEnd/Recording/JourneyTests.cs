using System.Net;
using System.Text;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Microsoft.AspNetCore.Http;

namespace Esb.IntegrationTests.EndToEnd.Recording;

/// <summary>Two hosts on one broker and one database: what one takes in the other delivers, fails at, and replays.</summary>
[CancelAfter(180_000)]
public sealed class JourneyTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly string _prefix = $"test-{Guid.NewGuid():N}";
    private DirectoryInfo _folder = null!;
    private OrderSink _shop = null!;
    private readonly List<RunningHost> _hosts = [];
    private RunningHost _front = null!;
    private RunningHost _back = null!;

    private string Shared =>
        $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
            "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_prefix.Replace('-', '_')}}" },
            "topics": { "orders": {} }
            """;

    [SetUp]
    public async Task StartHosts()
    {
        _folder = Directory.CreateTempSubdirectory("esb-journey-");
        _shop = await OrderSink.StartAsync();
        // The endpoints first: what is published before their queues are there is nobody's.
        _back = await StartAsync(
            "back",
            $$"""
            { "name": "back", {{Shared}},
              "endpoints": { "shop": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "{{_shop.Url}}", "retry": { "immediate": 1, "delays": [] } } } }
            """
        );
        _front = await StartAsync(
            "front",
            $$"""
            { "name": "front", {{Shared}},
              "endpoints": {
                "orders-in": { "type": "http-inbound", "path": "/orders", "process": "receive-order" },
                "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "ledger", "fileName": "{message.id}.json" } },
              "processes": { "receive-order": [
                { "audit": { "as": "order-taken", "fields": { "order": { "jsonpath": "$.order" } }, "body": true } },
                { "publish": "orders.new" } ] } }
            """
        );
    }

    [TearDown]
    public async Task StopHosts()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        await _shop.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Thorough"), Property("Case", "AUD-06")]
    public async Task Journey_shows_both_hosts_the_attempts_the_dead_letter_and_the_replays(CancellationToken cancellationToken)
    {
        (_shop.Refuses, _shop.Refusal) = (_ => true, StatusCodes.Status500InternalServerError);
        using var accepted = await _front.PostAsync("/orders", """{ "order": "A-1001" }""", "application/json", cancellationToken);
        var id = Guid.Parse(accepted.Headers.GetValues("Esb-Message-Id").Single());
        await WaitForAsync(id, "dead-lettered", cancellationToken);

        _shop.Refuses = _ => false;
        await PostAsync(_back, "/api/replays", """{ "filter": { "endpoint": "shop" }, "reason": "the shop is back" }""", cancellationToken);
        await WaitForAsync(id, "delivered", cancellationToken);

        var found = (await _back.AskAsync("/api/messages?where=order=A-1001", cancellationToken)).GetProperty("items")[0];
        var (refused, _) = await PostAsync(
            _back,
            $"/api/messages/{id}/replay",
            $$"""{ "endpoint": "shop", "fact": "{{found.GetProperty("id").GetGuid()}}" }""",
            cancellationToken
        );
        var (sent, _) = await PostAsync(
            _back,
            $"/api/messages/{id}/replay",
            $$"""{ "endpoint": "shop", "fact": "{{found.GetProperty("id").GetGuid()}}", "again": true }""",
            cancellationToken
        );
        await _back.WaitAsync(_ => Task.FromResult(_shop.Taken.Count == 2), Limit, "to deliver it once more", cancellationToken);
        await WaitForAsync(id, "delivered", cancellationToken, replays: 2);

        var journey = await _front.AskAsync($"/api/messages/{id}", cancellationToken);
        var message = journey.GetProperty("messages").EnumerateArray().Single();
        var stages = message
            .GetProperty("stages")
            .EnumerateArray()
            .ToDictionary(stage => $"{Text(stage, "kind")} {Text(stage, "endpoint")}");
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                stages.Keys,
                Is.EquivalentTo(new[] { "entry orders-in", "publication orders-in", "delivery ledger", "delivery shop" })
            );
            Assert.That(Kinds(stages["entry orders-in"]), Is.EqualTo(new[] { "received", "recorded" }));
            Assert.That(
                Kinds(stages["delivery shop"]),
                Is.EqualTo(new[] { "failed", "failed", "dead-lettered", "replayed", "delivered", "replayed", "delivered" })
            );
            Assert.That(
                stages["delivery shop"]
                    .GetProperty("events")
                    .EnumerateArray()
                    .Select(happened => happened.GetProperty("replay").GetInt32()),
                Is.EqualTo(new[] { 0, 0, 0, 1, 1, 2, 2 })
            );
            Assert.That((refused, sent), Is.EqualTo((HttpStatusCode.Conflict, HttpStatusCode.Accepted)));
            Assert.That(
                _shop.Taken.Select(taken => (taken.Message, taken.Body)),
                Is.EqualTo(Enumerable.Repeat((id, """{ "order": "A-1001" }"""), 2))
            );
        }

        await DrawAsync(id, cancellationToken);
    }

    private async Task DrawAsync(Guid id, CancellationToken cancellationToken)
    {
        var (exitCode, output, error) = await CommandLine.RunAsync(
            _front.Folder,
            cancellationToken,
            "audit",
            "show",
            id.ToString(),
            "--url",
            _front.Management.ToString()
        );
        Assert.That(exitCode, Is.Zero, error);
        Assert.That(
            output,
            Does.StartWith($"{id} delivered after").And.Contain("delivery shop: delivered").And.Contain("the shop is back")
        );
        TestContext.Out.WriteLine(output);
    }

    private Task WaitForAsync(Guid id, string state, CancellationToken cancellationToken, int replays = 0) =>
        _back.WaitAsync(
            async token =>
            {
                if (await _front.FindAsync($"/api/messages/{id}", token) is not { } journey)
                    return false;
                var kinds = journey.GetProperty("items").EnumerateArray().Select(fact => Text(fact, "kind")).ToList();
                return Text(journey, "state") == state
                    && kinds.Count(kind => kind == "replayed") >= replays
                    && kinds.Count(kind => kind == "delivered") >= (state == "delivered" ? replays + 1 : 1);
            },
            Limit,
            $"to record that {id} is {state}",
            cancellationToken
        );

    private async Task<RunningHost> StartAsync(string name, string configuration)
    {
        var folder = _folder.CreateSubdirectory(name).FullName;
        await File.WriteAllTextAsync(Path.Combine(folder, "esb.json"), configuration);
        var host = await RunningHost.StartAsync(
            "esb.json",
            folder,
            CancellationToken.None,
            new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq, ["ESB_POSTGRES"] = Servers.Postgres }
        );
        _hosts.Add(host);
        return host;
    }

    private static async Task<(HttpStatusCode Status, JsonElement Answer)> PostAsync(
        RunningHost host,
        string path,
        string body,
        CancellationToken cancellationToken
    )
    {
        var key = await File.ReadAllTextAsync(Path.Combine(host.Folder, "esb-data", "management.key"), cancellationToken);
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(host.Management, path))
        {
            Content = new StringContent(body, Encoding.UTF8, "application/json"),
        };
        request.Headers.Authorization = new("Bearer", key.Trim());
        using var response = await host.Client.SendAsync(request, cancellationToken);
        return (response.StatusCode, JsonDocument.Parse(await response.Content.ReadAsStringAsync(cancellationToken)).RootElement);
    }

    private static IEnumerable<string?> Kinds(JsonElement stage) =>
        stage.GetProperty("events").EnumerateArray().Select(happened => Text(happened, "kind"));

    private static string? Text(JsonElement thing, string name) => thing.TryGetProperty(name, out var value) ? value.GetString() : null;
}
