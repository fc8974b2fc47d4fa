using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Messages that decide by name where a call goes, and names that change while the host runs.</summary>
[NonParallelizable]
public sealed class TargetsTests
{
    private DirectoryInfo _folder = null!;
    private EchoBackend _east = null!;
    private EchoBackend _west = null!;
    private RunningHost _host = null!;

    private string Targets => Path.Combine(_folder.FullName, "targets.json");

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-targets-");
        (_east, _west) = (await EchoBackend.StartAsync(), await EchoBackend.StartAsync());
        await File.WriteAllTextAsync(Targets, $$"""{ "north": "{{_east.Url}}" }""");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            $$"""
            {
              "processes": { "send": [{ "call": { "endpoint": "regions", "target": { "xpath": "string(/order/@region)" } } }] },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/orders", "process": "send", "mode": "request-reply" },
                "regions": { "type": "http-outbound", "url": "http://127.0.0.1:1/", "targetsFile": "targets.json" }
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
        await _east.DisposeAsync();
        await _west.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Order(1), CancelAfter(60_000)]
    public async Task Message_goes_where_it_says_and_not_where_nobody_allowed(CancellationToken cancellationToken)
    {
        Assert.That(await SendAsync("north", cancellationToken), Is.EqualTo(HttpStatusCode.OK));
        Assert.That(await SendAsync("http://127.0.0.1:2/", cancellationToken), Is.EqualTo(HttpStatusCode.UnprocessableEntity));
        Assert.That(_east.LastBody, Does.Contain("north"));
    }

    [Test, Order(2), CancelAfter(60_000)]
    public async Task Names_change_while_the_host_runs_and_a_broken_change_is_not_taken_over(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(Targets, $$"""{ "north": "{{_west.Url}}", "south": "{{_east.Url}}" }""", cancellationToken);
        while (await SendAsync("south", cancellationToken) != HttpStatusCode.OK)
            await Task.Delay(100, cancellationToken);
        Assert.That(await SendAsync("north", cancellationToken), Is.EqualTo(HttpStatusCode.OK));
        Assert.That((_east.LastBody, _west.LastBody), Is.EqualTo(("""<order region="south"/>""", """<order region="north"/>""")));

        await File.WriteAllTextAsync(Targets, """{ "south": "nowhere" }""", cancellationToken);
        while (!_host.Output.Contains("ESB-CFG-RELOAD", StringComparison.Ordinal))
        {
            Assert.That(await SendAsync("south", cancellationToken), Is.EqualTo(HttpStatusCode.OK), "what stood before stays");
            await Task.Delay(100, cancellationToken);
        }

        Assert.That(await SendAsync("north", cancellationToken), Is.EqualTo(HttpStatusCode.OK));
    }

    [Test, CancelAfter(60_000)]
    public async Task File_of_targets_that_two_endpoints_cannot_read_is_an_error_beside_the_others(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "broken.json"),
            """
            { "endpoints": {
                "east": { "type": "http-outbound", "url": "http://127.0.0.1/", "targetsFile": "nowhere.json" },
                "west": { "type": "http-outbound", "url": "http://127.0.0.1/", "targetsFile": "nowhere.json" } },
              "telemetry": { "otlp": "nowhere" } }
            """,
            cancellationToken
        );

        var (exitCode, _, error) = await CommandLine.RunAsync(_folder.FullName, cancellationToken, "validate", "broken.json");

        Assert.That(exitCode, Is.EqualTo(3));
        Assert.That(error, Does.StartWith("Configuration refused, 2 errors").And.Contains("nowhere.json").And.Contains("telemetry.otlp"));
    }

    private async Task<HttpStatusCode> SendAsync(string region, CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync("/orders", $"""<order region="{region}"/>""", "application/xml", cancellationToken);
        return response.StatusCode;
    }
}
