using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Copies beside the message: on a real broker, also when its queue takes no more of them.</summary>
[NonParallelizable]
public sealed class WireTapTests
{
    private readonly string _prefix = $"tap{Guid.NewGuid():N}"[..12];
    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-tap-");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
              "topics": { "orders": {}, "copies": {} },
              "processes": { "tapped": [{ "wireTap": "copies.order" }, { "publish": "orders.new" }] },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "process": "tapped" },
                "orders": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "orders", "fileName": "{message.id}.txt" },
                "copies": {
                  "type": "file-outbound", "subscribe": ["copies.#"], "folder": "copies", "fileName": "{message.id}.txt",
                  "queue": { "type": "classic", "maxLength": 5, "overflow": "reject-publish" }, "prefetch": 1
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

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Order(1), CancelAfter(60_000)]
    public async Task Copy_arrives_beside_the_message_with_the_same_bytes_and_an_id_of_its_own(CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/orders", "<order/>", "application/xml", cancellationToken);

        var (message, copy) = (
            await WaitForFilesAsync("orders", 1, cancellationToken),
            await WaitForFilesAsync("copies", 1, cancellationToken)
        );
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That((File.ReadAllText(message[0]), File.ReadAllText(copy[0])), Is.EqualTo(("<order/>", "<order/>")));
        Assert.That(Path.GetFileName(copy[0]), Is.Not.EqualTo(Path.GetFileName(message[0])));
    }

    [Test, Order(2), CancelAfter(60_000)]
    public async Task Queue_that_takes_no_more_copies_does_not_befall_the_messages(CancellationToken cancellationToken)
    {
        var (exitCode, _, error) = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            "endpoints",
            "pause",
            "copies",
            "--url",
            _host.Management.OriginalString
        );
        Assert.That(exitCode, Is.Zero, error);

        var statuses = await Task.WhenAll(
            Enumerable
                .Range(0, 50)
                .Select(async _ => (await _host.PostAsync("/orders", "<order/>", "application/xml", cancellationToken)).StatusCode)
        );

        Assert.That(statuses, Is.All.EqualTo(HttpStatusCode.Accepted));
        Assert.That(await WaitForFilesAsync("orders", 51, cancellationToken), Has.Length.EqualTo(51));
        while (!_host.Output.Contains("copies were lost", StringComparison.Ordinal))
            await Task.Delay(50, cancellationToken);
    }

    private async Task<string[]> WaitForFilesAsync(string folder, int count, CancellationToken cancellationToken)
    {
        var path = Path.Combine(_folder.FullName, folder);
        while (!Directory.Exists(path) || Directory.GetFiles(path, "*.txt").Length < count)
            await Task.Delay(50, cancellationToken);
        return Directory.GetFiles(path, "*.txt");
    }
}
