using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Topics;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>Log levels that are changed on one host of a farm hold on the others.</summary>
[CancelAfter(120_000)]
public sealed class FarmLogLevelTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(20);

    private readonly List<RunningHost> _hosts = [];
    private readonly TestBroker _broker = new();
    private DirectoryInfo _folder = null!;

    [SetUp]
    public async Task StartHosts()
    {
        _folder = Directory.CreateTempSubdirectory("esb-farmlog-");
        _hosts.AddRange(await Task.WhenAll(StartAsync("a"), StartAsync("b")));
    }

    [TearDown]
    public async Task StopHosts()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        _hosts.Clear();
        await _broker.CleanUpAsync();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Thorough")]
    public async Task Another_host_obeys_and_goes_back_when_it_is_told_to(CancellationToken cancellationToken)
    {
        var (here, there) = (_hosts[0], _hosts[1]);

        await SetAsync(here, "workflows", "debug", cancellationToken);
        await there.WaitAsync(token => IsChangedAsync(there, "Esb.Workflows", "debug", token), Soon, "to obey", cancellationToken);
        await AskAsync(there, "one", cancellationToken);
        await SetAsync(there, "workflows", "configured", cancellationToken);
        await here.WaitAsync(
            async token => !await IsChangedAsync(here, "Esb.Workflows", "debug", token),
            Soon,
            "to go back",
            cancellationToken
        );
        await AskAsync(here, "two", cancellationToken);
        await AskAsync(there, "three", cancellationToken);
        await SetAsync(here, "topics", "trace", cancellationToken, "--this-host");
        await SetAsync(here, "audit", "trace", cancellationToken); // which tells that the other one would have heard of it by now
        await there.WaitAsync(token => IsChangedAsync(there, "Esb.Audit", "trace", token), Soon, "to obey again", cancellationToken);

        Assert.That(await IsChangedAsync(there, "Esb.Topics", "trace", cancellationToken), Is.False);
        foreach (var host in _hosts)
            Assert.That(await host.StopAsync(cancellationToken), Is.Zero); // then all that they had to say is there
        Assert.That(there.Output, Does.Contain("asked one").And.Not.Contain("asked three"));
        Assert.That(here.Output, Does.Not.Contain("asked two"));
    }

    private Task<RunningHost> StartAsync(string name)
    {
        var folder = _folder.CreateSubdirectory(name).FullName;
        var file = Path.Combine(folder, "esb.json");
        File.WriteAllText(
            file,
            $$"""
            {
              "name": "tests",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "{{_broker.Prefix}}" },
              "endpoints": { "ask": { "type": "http-inbound", "path": "/ask", "mode": "request-reply", "process": "answer" } },
              "processes": { "answer": [{ "log": { "message": "asked {header.x-number}", "level": "debug" } }, { "respond": { "status": 200, "body": { "answer": 42 } } }] }
            }
            """
        );
        return RunningHost.StartAsync(file, folder, CancellationToken.None);
    }

    private static async Task SetAsync(
        RunningHost host,
        string category,
        string level,
        CancellationToken cancellationToken,
        params string[] more
    )
    {
        var (exitCode, _, error) = await CommandLine.RunAsync(
            host.Folder,
            cancellationToken,
            ["log", "set", category, level, .. more, "--url", host.Management.OriginalString]
        );
        Assert.That(exitCode, Is.Zero, error);
    }

    private static async Task<bool> IsChangedAsync(RunningHost host, string category, string level, CancellationToken cancellationToken) =>
        (await host.AskAsync("/api/log", cancellationToken))
            .GetProperty("changed")
            .EnumerateArray()
            .Any(changed => Says(changed, "category", category) && Says(changed, "level", level));

    private static bool Says(JsonElement changed, string name, string text) => changed.GetProperty(name).GetString() == text;

    private static async Task AskAsync(RunningHost host, string number, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(host.Public, "/ask")) { Content = new StringContent("?") };
        request.Headers.Add("X-Number", number);
        using var response = await host.Client.SendAsync(request, cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.OK));
    }
}
