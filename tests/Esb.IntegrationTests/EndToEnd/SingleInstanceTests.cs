using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Two hosts of one farm on one drop box: one of them reads it, and when it dies the other does.</summary>
[Category("Faults"), Category("WaitsLong"), CancelAfter(120_000)]
public sealed class SingleInstanceTests
{
    private static readonly TimeSpan TakeOverLimit = TimeSpan.FromSeconds(20); // the lease lasts 10 s; a host asks for it every 3 s

    private readonly string _prefix = $"test-{Guid.NewGuid():N}";
    private readonly List<RunningHost> _hosts = [];
    private DirectoryInfo _folder = null!;

    private string In => Path.Combine(_folder.FullName, "in");

    private string Out => Path.Combine(_folder.FullName, "out");

    [SetUp]
    public async Task WriteConfiguration()
    {
        _folder = Directory.CreateTempSubdirectory("esb-single-");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "name": "single",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_prefix.Replace('-', '_')}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "drop-box": { "type": "file-inbound", "folder": {{Json(
                In
            )}}, "pattern": "*.json", "interval": "100ms", "publish": "orders.new", "singleInstance": true },
                "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": {{Json(Out)}}, "fileName": "{message.id}.json" }
              }
            }
            """
        );
    }

    [TearDown]
    public async Task StopHosts()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Property("Case", "T-LEA-1")]
    public async Task Another_host_takes_over_when_the_one_that_reads_is_killed(CancellationToken cancellationToken)
    {
        await StartAsync("a", cancellationToken);
        await StartAsync("b", cancellationToken);
        await PutAsync("first", cancellationToken);
        await WaitForDeliveriesAsync(1, cancellationToken);
        var states = await Task.WhenAll(_hosts.Select(host => StateAsync(host, cancellationToken)));
        Assert.That(states, Is.EquivalentTo(new[] { "running", "standby" }));

        var reader = _hosts[Array.IndexOf(states, "running")];
        reader.Kill();
        _hosts.Remove(reader);
        await PutAsync("second", cancellationToken);
        await WaitForDeliveriesAsync(2, cancellationToken);

        Assert.That(await StateAsync(_hosts.Single(), cancellationToken), Is.EqualTo("running"));
    }

    private async Task StartAsync(string name, CancellationToken cancellationToken) =>
        _hosts.Add(
            await RunningHost.StartAsync(
                Path.Combine(_folder.FullName, "esb.json"),
                _folder.CreateSubdirectory(name).FullName,
                cancellationToken,
                new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq, ["ESB_POSTGRES"] = Servers.Postgres }
            )
        );

    private async Task PutAsync(string order, CancellationToken cancellationToken)
    {
        var unfinished = Path.Combine(In, $"{order}.tmp");
        await File.WriteAllTextAsync(unfinished, JsonSerializer.Serialize(new { order }), cancellationToken);
        File.Move(unfinished, Path.Combine(In, $"{order}.json"));
    }

    private Task WaitForDeliveriesAsync(int count, CancellationToken cancellationToken) =>
        _hosts[^1]
            .WaitAsync(
                _ => Task.FromResult(Directory.Exists(Out) && Directory.GetFiles(Out).Length == count),
                TakeOverLimit,
                $"to deliver {count} files",
                cancellationToken
            );

    private static async Task<string?> StateAsync(RunningHost host, CancellationToken cancellationToken)
    {
        var endpoints = (await host.AskAsync("/api/endpoints", cancellationToken)).GetProperty("items").EnumerateArray();
        return endpoints.Single(endpoint => endpoint.GetProperty("name").GetString() == "drop-box").GetProperty("state").GetString();
    }

    private static string Json(string text) => JsonSerializer.Serialize(text);
}
