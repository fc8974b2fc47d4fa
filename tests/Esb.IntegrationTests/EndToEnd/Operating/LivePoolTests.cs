using System.Net;
using Esb.Host.Commands;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>An operator gives an outside that is slow more places, while it works.</summary>
[CancelAfter(120_000)]
public sealed class LivePoolTests
{
    private const int Places = 20;
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(20);

    private DirectoryInfo _folder = null!;
    private EchoBackend _backend = null!;
    private RunningHost _host = null!;

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-pool-");
        _backend = await EchoBackend.StartAsync();
        _backend.Delay = TimeSpan.FromSeconds(1);
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "test-{{Guid.NewGuid().ToString("N")[..10]}}" },
              "topics": { "orders": {} },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "gate": { "type": "http-inbound", "path": "/relay", "relay": "shop" },
                "shop": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "{{_backend.Url.OriginalString}}", "poolSize": 2, "processingThreads": 2 }
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

    [TestCase("/orders", HttpStatusCode.Accepted), TestCase("/relay", HttpStatusCode.OK, Category = "Thorough")]
    public async Task As_many_requests_are_under_way_at_once_as_the_operator_says(
        string path,
        HttpStatusCode expected,
        CancellationToken cancellationToken
    )
    {
        await PostAsync(path, times: 4, expected, cancellationToken);
        await _host.WaitAsync(_ => Task.FromResult(_backend.Keys.Count == 4), Soon, "to send four requests", cancellationToken);
        Assert.That(_backend.MostAtOnce, Is.EqualTo(2));

        var (exitCode, output, error) = await CommandLine.RunAsync(
            _host.Folder,
            cancellationToken,
            "endpoints",
            "set",
            "shop",
            "--pool-size",
            $"{Places}",
            "--processing-threads",
            $"{Places}",
            "--url",
            _host.Management.OriginalString
        );
        Assert.That(exitCode, Is.EqualTo(ExitCode.Done), output + error);
        await PostAsync(path, times: 3 * Places, expected, cancellationToken);

        await _host.WaitAsync(
            _ => Task.FromResult(_backend.MostAtOnce == Places),
            Soon,
            $"to send {Places} requests at once",
            cancellationToken
        );
    }

    private async Task PostAsync(string path, int times, HttpStatusCode expected, CancellationToken cancellationToken)
    {
        foreach (
            var answer in await Task.WhenAll(
                Enumerable.Range(0, times).Select(number => _host.PostAsync(path, $"{number}", "text/plain", cancellationToken))
            )
        )
            Assert.That(answer.StatusCode, Is.EqualTo(expected));
    }
}
