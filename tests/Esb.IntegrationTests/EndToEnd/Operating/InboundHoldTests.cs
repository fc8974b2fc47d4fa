using System.Net;
using System.Text.Json;
using Esb.Host.Commands;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>Inbound endpoints that an operator or their schedule holds, on the embedded default.</summary>
[CancelAfter(120_000)]
public sealed class InboundHoldTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(20);

    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;
    private DateTimeOffset _opens;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-inbound-hold-");
        var now = TimeProvider.System.GetUtcNow();
        _opens = new DateTimeOffset(now.Date, TimeSpan.Zero).AddHours(now.Hour + 2);
        var later = $$"""{ "from": "{{_opens:HH}}:00", "to": "{{_opens.AddHours(1):HH}}:00", "timeZone": "UTC" }""";
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "topics": { "orders": {} },
              "endpoints": {
                "drop": { "type": "file-inbound", "folder": "in", "publish": "orders.new", "interval": "20ms" },
                "later": { "type": "file-inbound", "folder": "later", "publish": "orders.new", "interval": "20ms", "schedule": {{later}} },
                "open": { "type": "http-inbound", "path": "/open", "publish": "orders.new", "schedule": { "from": "00:00", "to": "24:00" } },
                "closed": { "type": "http-inbound", "path": "/closed", "publish": "orders.new", "schedule": {{later}} },
                "out": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "out", "fileName": "{message.id}.txt" }
              }
            }
            """
        );
        _host = await RunningHost.StartAsync("esb.json", _folder.FullName, CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Order(1)]
    public async Task Files_stay_where_they_are_until_the_endpoint_is_resumed(CancellationToken cancellationToken)
    {
        await RunAsync("pause", cancellationToken);
        Assert.That((await StatusAsync("drop", cancellationToken)).GetProperty("state").GetString(), Is.EqualTo("paused-by-operator"));
        Put("in", "1.txt");
        Put("in", "2.txt");
        await Task.Delay(TimeSpan.FromSeconds(2), cancellationToken); // a hundred looks
        var during = (Names("in"), Names("out"));

        await RunAsync("resume", cancellationToken);

        await _host.WaitAsync(
            _ => Task.FromResult(Names("in/done").Count == 2 && Names("out").Count == 2),
            Soon,
            "to take both files",
            cancellationToken
        );
        Assert.That(during.Item1, Is.EquivalentTo(new[] { "1.txt", "2.txt" }), _host.Output);
        Assert.That(during.Item2, Is.Empty);
    }

    [Test, Order(2)]
    public async Task Endpoint_takes_in_what_its_schedule_allows_and_tells_when_it_opens(CancellationToken cancellationToken)
    {
        Put("later", "1.txt");
        var (before, written) = (TimeProvider.System.GetUtcNow(), Names("out").Count);
        using var closed = await _host.PostAsync("/closed", "{}", "application/json", cancellationToken);
        using var open = await _host.PostAsync("/open", "{}", "application/json", cancellationToken);
        await _host.WaitAsync(_ => Task.FromResult(Names("out").Count == written + 1), Soon, "to deliver what came in", cancellationToken);

        var status = await StatusAsync("later", cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                (open.StatusCode, closed.StatusCode),
                Is.EqualTo((HttpStatusCode.Accepted, HttpStatusCode.ServiceUnavailable)),
                _host.Output
            );
            Assert.That(before + closed.Headers.RetryAfter!.Delta!.Value, Is.EqualTo(_opens).Within(Soon));
            Assert.That(await closed.Content.ReadAsStringAsync(cancellationToken), Does.Contain("ESB-ENDPOINT-CLOSED"));
            Assert.That(Names("later"), Is.EqualTo(new[] { "1.txt" }));
            Assert.That(
                (status.GetProperty("state").GetString(), status.GetProperty("reason").GetString()),
                Is.EqualTo(("paused", $"closed by its schedule until {_opens:yyyy-MM-dd HH:mm zzz}"))
            );
        }
    }

    private async Task RunAsync(string command, CancellationToken cancellationToken)
    {
        var (exitCode, _, error) = await CommandLine.RunAsync(
            _host.Folder,
            cancellationToken,
            "endpoints",
            command,
            "drop",
            "--url",
            _host.Management.OriginalString
        );
        Assert.That(exitCode, Is.EqualTo(ExitCode.Done), error);
    }

    private Task<JsonElement> StatusAsync(string endpoint, CancellationToken cancellationToken) =>
        _host.AskAsync($"/api/endpoints/{endpoint}", cancellationToken);

    private void Put(string folder, string name)
    {
        var path = Path.Combine(_folder.FullName, folder, name);
        File.WriteAllText($"{path}.part", "{}");
        File.Move($"{path}.part", path);
    }

    private IReadOnlyList<string> Names(string folder)
    {
        var path = Path.Combine(_folder.FullName, folder);
        return Directory.Exists(path) ? [.. Directory.GetFiles(path).Select(file => Path.GetFileName(file))] : [];
    }
}
