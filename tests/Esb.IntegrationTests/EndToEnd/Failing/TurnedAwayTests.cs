using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>An outside behind a proxy that answers 503 to everything for a while.</summary>
[CancelAfter(120_000), Category("Failures")]
public sealed class TurnedAwayTests
{
    private const int Messages = 40;
    private static readonly TimeSpan LongerThanAllAttempts = TimeSpan.FromSeconds(12);
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private volatile bool _isAway = true;
    private int _turnedAway;
    private DirectoryInfo _folder = null!;
    private OrderBackend _backend = null!;
    private RunningHost _host = null!;

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-turned-away-");
        _backend = await OrderBackend.StartAsync(
            (_, _) =>
            {
                if (_isAway)
                    Interlocked.Increment(ref _turnedAway);
                return Task.FromResult(_isAway ? 503 : 200);
            }
        );
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "test-{{Guid.NewGuid().ToString("N")[..10]}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "shop": {
                  "type": "http-outbound", "subscribe": ["orders.#"], "url": "{{_backend.Url.OriginalString}}",
                  "processingThreads": 4, "poolSize": 4, "retry": { "immediate": 0, "delays": ["5s"] }
                }
              }
            }
            """
        );
        _host = await RunningHost.StartAsync(
            "esb.json",
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq }
        );
    }

    [TearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        await _backend.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Faults"), Category("WaitsLong")]
    public async Task Outside_that_turns_everything_away_is_waited_for_and_gets_every_message_afterwards(
        CancellationToken cancellationToken
    )
    {
        for (var number = 0; number < Messages; number++)
            (await _host.PostAsync("/orders", $"{number}", "text/plain", cancellationToken)).EnsureSuccessStatusCode();
        await _host.WaitAsync(async token => await StateAsync(token) == "paused", Limit, "to pause the endpoint", cancellationToken);
        var first = _turnedAway;
        await Task.Delay(LongerThanAllAttempts, cancellationToken); // not to be waited for: what must not happen meanwhile is a dead letter
        var (state, reason, letters, probes) = (
            await StateAsync(cancellationToken),
            (await ShopAsync(cancellationToken)).GetProperty("reason").GetString(),
            await LettersAsync(cancellationToken),
            _turnedAway - first
        );

        _isAway = false;
        await _host.WaitAsync(_ => Task.FromResult(_backend.Applied.Count >= Messages), Limit, "to deliver all", cancellationToken);
        await _host.WaitAsync(async token => await StateAsync(token) == "running", Limit, "to go on", cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That((state, reason), Is.EqualTo(("paused", "The endpoint 'shop' was answered with status 503.")));
            Assert.That(probes, Is.InRange(1, 8), "one at a time asks, less and less often");
            Assert.That((letters, await LettersAsync(cancellationToken)), Is.EqualTo((0, 0)));
            Assert.That(_backend.Applied.Select(applied => applied.Number).Order(), Is.EqualTo(Enumerable.Range(0, Messages)));
        }
    }

    private Task<JsonElement> ShopAsync(CancellationToken cancellationToken) => _host.AskAsync("/api/endpoints/shop", cancellationToken);

    private async Task<string?> StateAsync(CancellationToken cancellationToken) =>
        (await ShopAsync(cancellationToken)).GetProperty("state").GetString();

    private async Task<int> LettersAsync(CancellationToken cancellationToken) =>
        (await _host.AskAsync("/api/dead-letters", cancellationToken)).GetProperty("items").GetArrayLength();
}
