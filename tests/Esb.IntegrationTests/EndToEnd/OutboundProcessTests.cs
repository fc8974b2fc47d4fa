using System.Net;
using Esb.Core.Messages;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>The processes around an outbound endpoint, on the embedded default.</summary>
[CancelAfter(120_000)]
public sealed class OutboundProcessTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(40);

    private DirectoryInfo _folder = null!;
    private EchoBackend _backend = null!;
    private RunningHost _host = null!;

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-outbound-process-");
        _backend = await EchoBackend.StartAsync();
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "topics": { "orders": {}, "quotes": {}, "told": {} },
              "processes": {
                "prepare": [
                  { "filter": { "not": { "jsonpath": "$.skip" } } },
                  { "id": "tell", "publish": "told.new" },
                  { "respond": { "body": "prepared" } }
                ],
                "answer": [{ "respond": { "status": 201, "body": "answered" } }]
              },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "ask": { "type": "http-inbound", "path": "/quotes", "mode": "request-reply", "publish": "quotes.new" },
                "backend": { "type": "http-outbound", "url": "{{_backend.Url}}", "subscribe": ["orders.#", "quotes.#"], "process": "prepare", "reply": "answer" },
                "told": { "type": "file-outbound", "subscribe": ["told.#"], "folder": "told", "fileName": "{message.id}.txt" }
              }
            }
            """
        );
        _host = await RunningHost.StartAsync("esb.json", _folder.FullName, CancellationToken.None, new Dictionary<string, string>());
    }

    [TearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        await _backend.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Filter_passes_one_message_and_blocks_another(CancellationToken cancellationToken)
    {
        var blocked = await OrderAsync("""{ "skip": true }""", cancellationToken);
        var passed = await OrderAsync("{}", cancellationToken);

        await WaitForAsync(passed, "delivered", cancellationToken);
        await WaitForAsync(blocked, "filtered", cancellationToken);
        Assert.That(
            (_backend.LastBody, _backend.Keys),
            Is.EqualTo(("prepared", new[] { passed.ToString() })),
            "what the process made, under the id of the message, and nothing else"
        );
        Assert.That(
            Directory.GetFiles(Path.Combine(_folder.FullName, "told")).Select(Path.GetFileName),
            Is.EqualTo(new[] { $"{MessageIds.Derive(passed, "backend tell")}.txt" })
        );
    }

    [Test]
    public async Task Answer_of_a_request_is_what_reply_made(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/quotes", "{}", "application/json", cancellationToken);
        using var filtered = await _host.PostAsync("/quotes", """{ "skip": true }""", "application/json", cancellationToken);

        Assert.That(
            (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken)),
            Is.EqualTo((HttpStatusCode.Created, "answered")),
            _host.Output
        );
        Assert.That((_backend.LastBody, filtered.StatusCode, _backend.Keys.Count), Is.EqualTo(("prepared", HttpStatusCode.NoContent, 1)));
    }

    private async Task<Guid> OrderAsync(string body, CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/orders", body, "application/json", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), _host.Output);
        return Guid.Parse(response.Headers.GetValues("Esb-Message-Id").Single());
    }

    private Task WaitForAsync(Guid id, string state, CancellationToken cancellationToken) =>
        _host.WaitAsync(
            async token =>
                await _host.FindAsync($"/api/messages/{id}", token) is { } journey && journey.GetProperty("state").GetString() == state,
            Limit,
            $"to show that {id} is {state}",
            cancellationToken
        );
}
