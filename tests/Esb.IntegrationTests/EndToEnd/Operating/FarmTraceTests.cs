using System.Net;
using System.Net.Http.Json;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.IntegrationTests.Topics;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>A trace that begins on one host of a farm records what passes on the others, and is read on any of them.</summary>
[CancelAfter(120_000)]
[OwnProcess]
public sealed class FarmTraceTests
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(20);

    private readonly List<RunningHost> _hosts = [];
    private readonly TestBroker _broker = new();
    private DirectoryInfo _folder = null!;

    [SetUp]
    public async Task StartHosts()
    {
        _folder = Directory.CreateTempSubdirectory("esb-farmtrace-");
        _hosts.AddRange(await Task.WhenAll(StartAsync("a"), StartAsync("b")));
        foreach (var host in _hosts)
            await host.WaitAsync(token => SeesBothAsync(host, token), Soon, "to see the other one", CancellationToken.None);
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
    public async Task Message_of_another_host_is_recorded_and_read_here(CancellationToken cancellationToken)
    {
        var (here, there) = (_hosts[0], _hosts[1]);
        var id = (await TellAsync(here, HttpMethod.Post, "/api/traces", new { endpoint = "ask" }, cancellationToken))
            .GetProperty("id")
            .GetString();
        await there.WaitAsync(
            async token => Count(await there.AskAsync("/api/traces", token), "items") == 1,
            Soon,
            "to trace too",
            cancellationToken
        );
        using (var answer = await there.PostAsync("/ask", "?", "text/plain", cancellationToken))
            Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.OK), there.Output);

        await here.WaitAsync(
            async token => Count(await here.AskAsync($"/api/traces/{id}", token), "messages") == 1,
            Soon,
            "to hear of the message",
            cancellationToken
        );
        var pass = (await here.AskAsync($"/api/traces/{id}", cancellationToken)).GetProperty("messages")[0].GetProperty("id").GetString();
        var message = await here.AskAsync($"/api/traces/{id}/messages/{pass}", cancellationToken);
        await TellAsync(here, HttpMethod.Delete, $"/api/traces/{id}", null, cancellationToken);
        await there.WaitAsync(
            async token => (await there.AskAsync($"/api/traces/{id}", token)).GetProperty("state").GetString() == "stopped",
            Soon,
            "to end it too",
            cancellationToken
        );

        Assert.That(
            message.GetProperty("steps").EnumerateArray().Select(step => step.GetProperty("place").GetString()),
            Is.EqualTo(["answer-it"])
        );
        Assert.That(
            message.GetProperty("bodies").EnumerateArray().Select(body => body.GetProperty("text").GetString()),
            Is.EqualTo(["?", "{\"answer\":42}"])
        );
    }

    // Until a host knows which others there are, it answers 503.
    private static async Task<bool> SeesBothAsync(RunningHost host, CancellationToken cancellationToken)
    {
        using var answer = await SendAsync(host, HttpMethod.Get, "/api/hosts", null, cancellationToken);
        return answer.IsSuccessStatusCode && Count(await answer.Content.ReadFromJsonAsync<JsonElement>(cancellationToken), "items") == 2;
    }

    private static int Count(JsonElement view, string list) => view.GetProperty(list).GetArrayLength();

    private static async Task<JsonElement> TellAsync(
        RunningHost host,
        HttpMethod method,
        string path,
        object? body,
        CancellationToken cancellationToken
    )
    {
        using var answer = await SendAsync(host, method, path, body, cancellationToken);
        var text = await answer.Content.ReadAsStringAsync(cancellationToken);
        Assert.That(answer.IsSuccessStatusCode, Is.True, text);
        return JsonDocument.Parse(text).RootElement;
    }

    private static async Task<HttpResponseMessage> SendAsync(
        RunningHost host,
        HttpMethod method,
        string path,
        object? body,
        CancellationToken cancellationToken
    )
    {
        using var request = new HttpRequestMessage(method, new Uri(host.Management, path));
        var key = await File.ReadAllTextAsync(Path.Combine(host.Folder, "esb-data", "management.key"), cancellationToken);
        request.Headers.Add("X-Esb-Key", key.Trim());
        if (body is not null)
            request.Content = JsonContent.Create(body);
        return await host.Client.SendAsync(request, cancellationToken);
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
              "processes": { "answer": [{ "id": "answer-it", "respond": { "status": 200, "body": { "answer": 42 } } }] }
            }
            """
        );
        return RunningHost.StartAsync(file, folder, CancellationToken.None);
    }
}
