using System.Collections.Concurrent;
using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>The queue of an itinerary with durable stops, over a broker: in order by key, and the keys side by side.</summary>
[CancelAfter(180_000)]
public sealed class ItineraryOrderTests
{
    private const int Keys = 20; // more than the queue has lanes
    private const int OfEachKey = 8;

    private readonly string _run = $"order{Guid.NewGuid():N}"[..12];
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("esb-itinerary-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task Messages_of_a_key_pass_durable_stops_in_order_beside_those_of_all_other_keys(CancellationToken cancellationToken)
    {
        var (underWay, overtaking) = (new ConcurrentDictionary<string, bool>(), new ConcurrentQueue<string>());
        var (waiting, allCame) = (0, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        await using var shop = await ScriptedBackend.StartAsync(
            async (path, token) =>
            {
                var keyAtStop = path[..path.LastIndexOf('-')];
                if (!underWay.TryAdd(keyAtStop, true))
                    overtaking.Enqueue(path);
                if (path.StartsWith("/second/", StringComparison.Ordinal))
                    await Task.Delay(TimeSpan.FromMilliseconds(100), token); // the next of the key could come meanwhile
                if (path.StartsWith("/first/", StringComparison.Ordinal) && path.EndsWith("-0", StringComparison.Ordinal))
                {
                    if (Interlocked.Increment(ref waiting) == Keys)
                        allCame.SetResult();
                    await allCame.Task.WaitAsync(token); // none goes on before a message of each key is here
                }

                underWay.TryRemove(keyAtStop, out _);
                return (200, "{}");
            }
        );
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "{{_run}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_TEST_POSTGRES}", "schema": "{{_run}}" },
              "topics": { "orders": { "key": { "jsonpath": "$.customer" } } },
              "endpoints": {
                "orders-in": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "begin": { "type": "process", "subscribe": ["orders.#"], "process": "begin", "delivery": "ordered-by-key" },
                "shop": { "type": "http-outbound", "url": "{{shop.Url}}", "poolSize": 64, "processingThreads": 64 }
              },
              "processes": { "begin": [{ "itinerary": "route" }] },
              "itineraries": {
                "route": {
                  "stops": [
                    { "set": { "properties": { "order": { "jsonpath": "$.order" } } } },
                    { "id": "first", "durable": true, "steps": [{ "call": { "endpoint": "shop", "path": "/first/{property.order}" } }] },
                    { "id": "second", "durable": true, "steps": [{ "call": { "endpoint": "shop", "path": "/second/{property.order}" } }] }
                  ]
                }
              }
            }
            """,
            cancellationToken
        );
        var variables = new Dictionary<string, string>
        {
            ["ESB_TEST_RABBITMQ"] = Servers.RabbitMq,
            ["ESB_TEST_POSTGRES"] = Servers.Postgres,
        };
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken, variables);

        for (var number = 0; number < OfEachKey; number++)
        {
            for (var key = 0; key < Keys; key++)
            {
                var order = $$"""{ "customer": "c{{key}}", "order": "c{{key}}-{{number}}" }""";
                using var answer = await host.PostAsync("/orders", order, "application/json", cancellationToken);
                Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), host.Output);
            }
        }

        await host.WaitAsync(
            _ =>
                Task.FromResult(
                    shop.Requests.Count(request => request.Path.StartsWith("/second/", StringComparison.Ordinal)) >= Keys * OfEachKey
                ),
            TimeSpan.FromSeconds(120),
            "to have passed all orders through both stops",
            cancellationToken
        );
        Assert.That(overtaking, Is.Empty, "sent while an earlier one of their key was under way");
        foreach (var stop in (string[])["first", "second"])
        {
            for (var key = 0; key < Keys; key++)
            {
                var prefix = $"/{stop}/c{key}-";
                Assert.That(
                    shop.Requests.Select(request => request.Path).Where(path => path.StartsWith(prefix, StringComparison.Ordinal)),
                    Is.EqualTo(Enumerable.Range(0, OfEachKey).Select(number => $"{prefix}{number}"))
                );
            }
        }
    }
}
