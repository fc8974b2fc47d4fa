using System.Collections.Concurrent;
using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>A host that calls HTTP servers: with a token of an authorization server, and several servers of one service.</summary>
[CancelAfter(60_000)]
public sealed class HttpOutTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    private readonly List<ScriptedBackend> _servers = [];
    private DirectoryInfo _folder = null!;
    private RunningHost? _host;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-http-out-");

    [TearDown]
    public async Task StopHost()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        _host = null;
        foreach (var server in _servers)
            await server.DisposeAsync();
        _servers.Clear();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Token_is_kept_and_renewed_before_its_end_and_after_a_401(CancellationToken cancellationToken)
    {
        await using var backend = await OAuthBackend.StartAsync();
        await StartAsync(
            $$"""
            "url": "{{backend.Url}}stock",
            "authentication": { "type": "oauth2", "tokenUrl": "{{backend.Url}}token", "clientId": "bus", "clientSecret": "${env:SECRET}", "scopes": ["stock.read"] }
            """,
            cancellationToken
        );

        var first = await CallAsync(3, cancellationToken);
        var kept = backend.Given;
        backend.Revoke();
        var second = await CallAsync(3, cancellationToken);
        var (renewed, refused) = (backend.Given, backend.Refused);
        backend.Life = TimeSpan.FromSeconds(4); // of the next token, which is renewed after half of it
        backend.Revoke();
        await _host!.WaitAsync(
            async token =>
            {
                await CallAsync(1, token);
                return backend.Given >= 5;
            },
            Limit,
            "to renew a token that ends",
            cancellationToken
        );

        Assert.That(first.Concat(second), Is.All.EqualTo((HttpStatusCode.OK, "in stock")));
        Assert.That((kept, renewed, refused), Is.EqualTo((1, 2, 1)));
        Assert.That(backend.Refused, Is.EqualTo(2), "a token is renewed before its end");
    }

    [TestCase(true, Category = "Thorough"), TestCase(false)]
    public async Task Requests_of_a_server_that_dies_go_to_another_and_come_back_with_it(bool isFirst, CancellationToken cancellationToken)
    {
        var (one, other) = (await ServeAsync("one"), await ServeAsync("other"));
        await StartAsync(
            $$"""
            "urls": ["{{one.Url}}stock", "{{other.Url}}stock"], "balance": "{{(isFirst ? "first" : "round-robin")}}"
            """,
            cancellationToken
        );

        var before = await CallAsync(10, cancellationToken);
        await one.DisposeAsync();
        var meanwhile = await CallAsync(10, cancellationToken);
        _servers.Remove(one);
        await ServeAsync("one", one.Url);
        var answers = new ConcurrentBag<string>();
        await _host!.WaitAsync(
            async token =>
            {
                foreach (var (_, body) in await CallAsync(2, token))
                    answers.Add(body);
                return answers.Contains("one");
            },
            Limit,
            "to try the first server again",
            cancellationToken
        );

        Assert.That(before.Concat(meanwhile).Select(answer => answer.Status), Is.All.EqualTo(HttpStatusCode.OK), _host.Output);
        Assert.That(before.Count(answer => answer.Body == "one"), Is.EqualTo(isFirst ? 10 : 5));
        Assert.That(meanwhile.Select(answer => answer.Body), Is.All.EqualTo("other"));
    }

    private async Task<ScriptedBackend> ServeAsync(string name, Uri? url = null)
    {
        var server = await ScriptedBackend.StartAsync((_, _) => Task.FromResult((200, name)), url);
        _servers.Add(server);
        return server;
    }

    private async Task StartAsync(string settings, CancellationToken cancellationToken)
    {
        var file = Path.Combine(_folder.FullName, "esb.json");
        await File.WriteAllTextAsync(
            file,
            $$"""
            {
              "name": "http-out",
              "endpoints": {
                "ask": { "type": "http-inbound", "path": "/ask", "mode": "request-reply", "process": "ask" },
                "stock": { "type": "http-outbound", {{settings}} }
              },
              "processes": { "ask": [{ "call": "stock" }] }
            }
            """,
            cancellationToken
        );
        _host = await RunningHost.StartAsync(
            file,
            _folder.CreateSubdirectory("host").FullName,
            cancellationToken,
            new Dictionary<string, string> { ["SECRET"] = OAuthBackend.Secret }
        );
    }

    private async Task<List<(HttpStatusCode Status, string Body)>> CallAsync(int times, CancellationToken cancellationToken)
    {
        var answers = new List<(HttpStatusCode, string)>();
        for (var i = 0; i < times; i++)
        {
            using var response = await _host!.PostAsync("/ask", "{}", "application/json", cancellationToken);
            answers.Add((response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken)));
        }

        return answers;
    }
}
