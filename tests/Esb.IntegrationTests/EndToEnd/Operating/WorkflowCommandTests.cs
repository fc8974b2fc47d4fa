using System.Net;
using System.Text.Json;
using Esb.Host.Commands;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>An operator sees and repairs single instances by commands.</summary>
[CancelAfter(120_000)]
public sealed class WorkflowCommandTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-operator-");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            """
            {
              "topics": { "orders": {} },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "ledger": { "type": "file-outbound", "folder": "ledger", "fileName": "{header.x-order}.json" }
              },
              "workflows": {
                "ship": {
                  "start": "orders.new",
                  "correlate": { "order": { "jsonpath": "$.order" } },
                  "steps": [
                    { "set": { "headers": { "x-order": { "jsonpath": "$.order" } }, "variables": { "number": { "jsonpath": "$.order" } } } },
                    { "id": "book", "call": "ledger" },
                    { "id": "pause", "delay": "1h" }
                  ]
                }
              }
            }
            """
        );
        foreach (var order in new[] { 1, 2 })
            await File.WriteAllTextAsync(LedgerOf(order), "in the way");
        _host = await RunningHost.StartAsync("esb.json", _folder.FullName, CancellationToken.None);
    }

    [TearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Instance_that_stopped_is_seen_retried_skipped_and_ended(CancellationToken cancellationToken)
    {
        foreach (var order in new[] { 1, 2 })
        {
            using var accepted = await _host.PostAsync("/orders", $$"""{ "order": {{order}} }""", "application/json", cancellationToken);
            Assert.That(accepted.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), _host.Output);
        }

        await _host.WaitAsync(
            async token => (await _host.AskAsync("/api/workflows?state=suspended", token)).GetProperty("items").GetArrayLength() == 2,
            Limit,
            "to have two suspended instances",
            cancellationToken
        );
        var listed = await EsbAsync(ExitCode.Done, cancellationToken, "list", "--state", "suspended", "--code", "ESB-FILE-EXISTS");
        var (first, second) = (IdOf(listed, order: 1), IdOf(listed, order: 2));
        var shown = JsonDocument.Parse(await EsbAsync(ExitCode.Done, cancellationToken, "show", first)).RootElement;

        File.Delete(LedgerOf(1));
        var retried = await EsbAsync(ExitCode.Done, cancellationToken, "retry", first, "--reason", "the file is away");
        var skipped = await EsbAsync(ExitCode.Done, cancellationToken, "skip", second, "--reason", "booked by hand");
        var ended = await EsbAsync(ExitCode.Done, cancellationToken, "terminate", second, "--reason", "not wanted any more");
        var refused = await EsbAsync(ExitCode.Usage, cancellationToken, "retry", second);
        var history = await EsbAsync(ExitCode.Done, cancellationToken, "history", second);
        var left = await EsbAsync(ExitCode.Done, cancellationToken, "list", "--workflow", "ship", "--key", "order=2");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(listed, Does.Match(@"ship\s+suspended\s+book\s+order=1\s.*ESB-FILE-EXISTS"));
            Assert.That(shown.GetProperty("details").GetProperty("variables").GetProperty("number").GetRawText(), Does.Contain("1"));
            Assert.That(retried, Is.EqualTo($"{first} of ship is waiting at pause\n"));
            Assert.That(await File.ReadAllTextAsync(LedgerOf(1), cancellationToken), Does.Contain("\"order\""), "the step ran");
            Assert.That(skipped, Is.EqualTo($"{second} of ship is waiting at pause\n"));
            Assert.That(await File.ReadAllTextAsync(LedgerOf(2), cancellationToken), Is.EqualTo("in the way"), "the step did not run");
            Assert.That(ended, Is.EqualTo($"{second} of ship is terminated\n"));
            Assert.That(refused, Does.Contain("ESB-WFL-GONE"));
            Assert.That(
                history,
                Does.Match(@"suspended\s+book\s+call\s+[\d.]+\s+ESB-FILE-EXISTS")
                    .And.Contain("booked by hand")
                    .And.Contain("not wanted any more")
            );
            Assert.That(left, Does.Match(@"ship\s+terminated\s+-\s+order=2").And.Not.Contain("order=1"));
        }
    }

    private static string IdOf(string table, int order) =>
        table.Split('\n').Single(line => line.Contains($"order={order} ", StringComparison.Ordinal)).Split(' ')[0];

    private string LedgerOf(int order) =>
        Path.Combine(Directory.CreateDirectory(Path.Combine(_folder.FullName, "ledger")).FullName, $"{order}.json");

    private async Task<string> EsbAsync(int exitCode, CancellationToken cancellationToken, params string[] arguments)
    {
        var (code, output, error) = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            ["workflows", .. arguments, "--url", _host.Management.OriginalString]
        );
        Assert.That(code, Is.EqualTo(exitCode), error);
        return exitCode == ExitCode.Done ? output : error;
    }
}
