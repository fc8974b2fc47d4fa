using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using Esb.Host.Commands;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Storage;

namespace Esb.IntegrationTests.EndToEnd.Reloading;

/// <summary>The queues of an endpoint are replaced while two hosts publish to it and deliver from it.</summary>
[Category("Faults"), CancelAfter(240_000)]
public sealed class MigrationTests
{
    private const int Keys = 12;

    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(60);

    private readonly string _prefix = $"move{Guid.NewGuid():N}"[..12];
    private readonly ConcurrentDictionary<string, ConcurrentQueue<int>> _accepted = new();
    private readonly List<RunningHost> _hosts = [];
    private volatile IReadOnlyList<RunningHost> _living = [];
    private DirectoryInfo _folder = null!;
    private TestSchema _schema = null!;
    private OrderBackend _backend = null!;

    [SetUp]
    public async Task Start()
    {
        _folder = Directory.CreateTempSubdirectory("esb-migration-");
        _schema = await TestSchema.StartAsync();
        _backend = await OrderBackend.StartAsync((_, _) => Task.FromResult(200));
    }

    [TearDown]
    public async Task Stop()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        _hosts.Clear();
        await _backend.DisposeAsync();
        await _schema.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Migration_under_load_has_the_hosts_wait_and_loses_doubles_and_reorders_nothing(CancellationToken cancellationToken)
    {
        var old = await StartAsync("old", lanes: 4, cancellationToken);
        var other = await StartAsync("other", lanes: 4, cancellationToken);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var load = Task.WhenAll(Enumerable.Range(0, Keys).Select(key => SendAsync($"key-{key}", key, enough.Token)));
        await old.WaitAsync(_ => Task.FromResult(_backend.Applied.Count > 200), Soon, "to deliver", cancellationToken);

        _living = [old];
        Assert.That(await other.StopAsync(cancellationToken), Is.Zero);
        var fresh = await StartAsync("fresh", lanes: 7, cancellationToken); // waits: its queues are otherwise
        var before = _backend.Applied.Count;
        var (exitCode, output, error) = await ApplyAsync(fresh, cancellationToken);
        TestContext.Out.WriteLine(output + error);
        await fresh.WaitAsync(
            _ => Task.FromResult(_backend.Applied.Count > before + 200),
            Soon,
            "to deliver from the new queues",
            cancellationToken
        );
        await enough.CancelAsync();
        await load;
        var all = _accepted.Values.Sum(numbers => numbers.Count);
        await fresh.WaitAsync(_ => Task.FromResult(_backend.Applied.Count >= all), Soon, $"to deliver all {all}", cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(exitCode, Is.EqualTo(ExitCode.Done), output + error);
            Assert.That(
                output,
                Does.Contain("to let go of its queues").And.Contain("ledger: migrated").And.Not.Contain("at the moment of the switch")
            );
            foreach (var (key, numbers) in _accepted)
                Assert.That(_backend.NumbersOf(key), Is.EqualTo(numbers), key);
            Assert.That(
                (await old.AskAsync("/api/endpoints/ledger", cancellationToken)).GetProperty("reason").GetString(),
                Does.Contain("ESB-CFG-QUEUEDRIFT"),
                "its configuration wants the old queues"
            );
        }
    }

    // One number after the other, so that the order of a key is that of the answers.
    private async Task SendAsync(string key, int place, CancellationToken enough)
    {
        var accepted = _accepted.GetOrAdd(key, _ => new ConcurrentQueue<int>());
        for (var number = 1; !enough.IsCancellationRequested; number++)
        {
            var living = _living;
            try
            {
                using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(living[place % living.Count].Public, "/orders"))
                {
                    Content = new StringContent($"{number}"),
                };
                request.Headers.Add("x-key", key);
                using var response = await living[0].Client.SendAsync(request, CancellationToken.None);
                if (response.StatusCode == HttpStatusCode.Accepted)
                    accepted.Enqueue(number);
            }
            catch (Exception ex) when (ex is HttpRequestException or SocketException)
            {
                // The host that is replaced does not listen any more: it took nothing.
            }

            await Task.Delay(40, CancellationToken.None); // some 200 a second, of all
        }
    }

    private string Configure(string name, int lanes)
    {
        var file = Path.Combine(_folder.CreateSubdirectory(name).FullName, "esb.json");
        File.WriteAllText(
            file,
            $$"""
            {
              "name": "migration",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "{{_prefix}}" },
              "store": { "type": "postgres", "connection": "{{_schema.Config.Connection}}", "schema": "{{_schema.Config.Schema}}" },
              "topics": { "orders": { "key": { "header": "x-key" } } },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "ledger": { "type": "http-outbound", "url": "{{_backend.Url.OriginalString}}", "subscribe": ["orders.#"], "delivery": "ordered-by-key", "lanes": {{lanes}}, "processingThreads": 8, "poolSize": 8 }
              }
            }
            """
        );
        return file;
    }

    private async Task<RunningHost> StartAsync(string name, int lanes, CancellationToken cancellationToken)
    {
        var file = Configure(name, lanes);
        var host = await RunningHost.StartAsync(file, Path.GetDirectoryName(file)!, cancellationToken);
        _hosts.Add(host);
        _living = [.. _living, host];
        return host;
    }

    private static Task<(int ExitCode, string Output, string Error)> ApplyAsync(RunningHost host, CancellationToken cancellationToken) =>
        CommandLine.RunAsync(host.Folder, cancellationToken, ["plan", Path.Combine(host.Folder, "esb.json"), "--apply"]);
}
