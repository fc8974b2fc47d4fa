using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>An operator asks a running host for more of its log, and for less again.</summary>
[CancelAfter(120_000)]
public sealed class LiveLogLevelTests
{
    private DirectoryInfo _folder = null!;
    private RunningHost _host = null!;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-log-");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            """
            {
              "endpoints": { "ask": { "type": "http-inbound", "path": "/ask", "mode": "request-reply", "process": "answer" } },
              "processes": { "answer": [{ "log": { "message": "asked {header.x-number}", "level": "debug" } }, { "respond": { "status": 200, "body": { "answer": 42 } } }] }
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

    [Test, Order(2)]
    public async Task Debug_lines_appear_and_disappear_while_the_host_works(CancellationToken cancellationToken)
    {
        await AskAsync("one", cancellationToken);
        await RunAsync(cancellationToken, "log", "set", "workflows", "debug");
        await AskAsync("two", cancellationToken);
        await RunAsync(cancellationToken, "log", "set", "workflows", "configured");
        await AskAsync("three", cancellationToken);

        Assert.That(await _host.StopAsync(cancellationToken), Is.Zero); // then all that it had to say is there
        Assert.That(_host.Output, Does.Contain("asked two").And.Not.Contain("asked one").And.Not.Contain("asked three"));
    }

    [Test, Order(1)]
    public async Task Level_for_a_time_is_shown_with_its_end(CancellationToken cancellationToken)
    {
        await RunAsync(cancellationToken, "log", "set", "Esb.Endpoints.Http", "trace", "--for", "10m", "--this-host");

        Assert.That(
            await RunAsync(cancellationToken, "log", "list"),
            Does.Match(@"Esb\.Endpoints\.Http\s+trace\s+20\d\d-").And.Match(@"default\s+information")
        );
    }

    private async Task<string> RunAsync(CancellationToken cancellationToken, params string[] arguments)
    {
        var (exitCode, output, error) = await CommandLine.RunAsync(
            _folder.FullName,
            cancellationToken,
            [.. arguments, "--url", _host.Management.OriginalString]
        );
        Assert.That(exitCode, Is.Zero, error);
        return output;
    }

    private async Task AskAsync(string number, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_host.Public, "/ask")) { Content = new StringContent("?") };
        request.Headers.Add("X-Number", number);
        using var response = await _host.Client.SendAsync(request, cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.OK));
    }
}
