using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>The embedded default keeps messages in memory only: a stop that is asked for delivers them first.</summary>
[OwnProcess]
public sealed class EmbeddedStopTests
{
    private const string Configuration = """
        {
          "topics": { "orders": {} },
          "endpoints": {
            "shop": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
            "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "ledger", "fileName": "{message.id}.txt" }
          }
        }
        """;

    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-embedded-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test, CancelAfter(60_000)]
    public async Task Host_that_is_asked_to_stop_delivers_what_it_accepted(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "esb.json"), Configuration, cancellationToken);
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken);
        var answers = await Task.WhenAll(
            Enumerable.Range(0, 500).Select(_ => host.PostAsync("/orders", "{}", "application/json", cancellationToken))
        );

        var exitCode = await host.StopAsync(cancellationToken);

        var accepted = answers.Count(answer => answer.StatusCode == HttpStatusCode.Accepted);
        Assert.Multiple(() =>
        {
            Assert.That(exitCode, Is.Zero, host.Output);
            Assert.That(accepted, Is.GreaterThan(100), "there was load");
            Assert.That(Directory.GetFiles(Path.Combine(_folder.FullName, "ledger")), Has.Length.EqualTo(accepted));
        });
    }
}
