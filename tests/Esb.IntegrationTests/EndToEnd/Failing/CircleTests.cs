using System.Net;
using System.Text;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>Two hosts that hand each other what they get: a circle that no check of one configuration can see.</summary>
[CancelAfter(120_000)]
public sealed class CircleTests
{
    private const string Circle = """
        {
          "topics": { "orders": {} },
          "endpoints": {
            "door": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
            "next": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "${env:NEXT}/orders" },
            "ask": { "type": "http-inbound", "path": "/ask", "mode": "request-reply", "process": "ask" },
            "asked": { "type": "http-outbound", "url": "${env:NEXT}/ask", "poolSize": 50 },
            "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "ledger", "fileName": "{message.id}.xml" }
          },
          "processes": { "ask": [{ "call": { "endpoint": "asked", "expect": "any" } }] }
        }
        """;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly List<RunningHost> _hosts = [];
    private DirectoryInfo _folder = null!;

    [SetUp]
    public async Task StartHosts()
    {
        _folder = Directory.CreateTempSubdirectory("esb-circle-");
        string[] urls = [$"http://127.0.0.1:{FreePorts.Next()}", $"http://127.0.0.1:{FreePorts.Next()}"];
        for (var i = 0; i < 2; i++)
        {
            var folder = _folder.CreateSubdirectory($"host-{i}").FullName;
            await File.WriteAllTextAsync(Path.Combine(folder, "esb.json"), Circle);
            _hosts.Add(
                await RunningHost.StartAsync(
                    "esb.json",
                    folder,
                    CancellationToken.None,
                    new Dictionary<string, string> { [RunningHost.PublicUrl] = urls[i], ["NEXT"] = urls[1 - i] }
                )
            );
        }
    }

    [TearDown]
    public async Task StopHosts()
    {
        foreach (var host in _hosts)
            await host.DisposeAsync();
        _hosts.Clear();
        _folder.Delete(recursive: true);
    }

    [Test, Category("Thorough"), Property("Case", "XPT-11")]
    public async Task Message_that_goes_in_circles_becomes_a_dead_letter_after_32_hops_and_so_does_its_replay(
        CancellationToken cancellationToken
    )
    {
        using var accepted = await _hosts[0].PostAsync("/orders", "<order/>", "application/xml", cancellationToken);
        var letters = await WaitForLettersAsync(1, cancellationToken);
        await WaitForLedgersAsync(17, 16, cancellationToken);

        await ReplayAsync(cancellationToken);
        await WaitForLettersAsync(2, cancellationToken);
        await WaitForLedgersAsync(33, 32, cancellationToken);

        Assert.That(accepted.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(letters[0].GetProperty("code").GetString(), Is.EqualTo("ESB-ROUTE-HOPS"));
        Assert.That(letters[0].GetProperty("attempts").GetInt32(), Is.EqualTo(1), "nothing is gained by trying again");
        Assert.That(letters[0].GetProperty("reason").GetString(), Does.Contain("32 times"));
        Assert.That(
            (await _hosts[1].AskAsync("/api/dead-letters", cancellationToken)).GetProperty("items").GetArrayLength(),
            Is.Zero,
            "the circle is cut in one place"
        );
    }

    [Test, Category("Thorough"), Property("Case", "XPT-11")]
    public async Task Call_that_goes_in_circles_is_answered_with_508(CancellationToken cancellationToken)
    {
        using var response = await _hosts[0].PostAsync("/ask", "<order/>", "application/xml", cancellationToken);

        Assert.That((int)response.StatusCode, Is.EqualTo(508));
        Assert.That(await response.Content.ReadAsStringAsync(cancellationToken), Does.Contain("ESB-ROUTE-HOPS"));
    }

    private async Task<List<JsonElement>> WaitForLettersAsync(int count, CancellationToken cancellationToken)
    {
        List<JsonElement> letters = [];
        await _hosts[0]
            .WaitAsync(
                async token =>
                    (
                        letters = [
                            .. (await _hosts[0].AskAsync("/api/dead-letters?endpoint=next", token)).GetProperty("items").EnumerateArray(),
                        ]
                    ).Count == count,
                Limit,
                $"to keep {count} dead letters",
                cancellationToken
            );
        return letters;
    }

    // One file for each time that the message came by.
    private async Task WaitForLedgersAsync(int first, int second, CancellationToken cancellationToken)
    {
        foreach (var (host, count) in new[] { (_hosts[0], first), (_hosts[1], second) })
            await host.WaitAsync(_ => Task.FromResult(FilesOf(host) == count), Limit, $"to write {count} files", cancellationToken);
    }

    private static int FilesOf(RunningHost host) => Directory.GetFiles(Path.Combine(host.Folder, "ledger"), "*.xml").Length;

    private async Task ReplayAsync(CancellationToken cancellationToken)
    {
        var key = await File.ReadAllTextAsync(Path.Combine(_hosts[0].Folder, "esb-data", "management.key"), cancellationToken);
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_hosts[0].Management, "/api/replays"))
        {
            Content = new StringContent(
                """{ "filter": { "endpoint": "next" }, "reason": "once more" }""",
                Encoding.UTF8,
                "application/json"
            ),
        };
        request.Headers.Authorization = new("Bearer", key.Trim());
        using var response = await _hosts[0].Client.SendAsync(request, cancellationToken);
        Assert.That(response.IsSuccessStatusCode, Is.True, await response.Content.ReadAsStringAsync(cancellationToken));
    }
}
