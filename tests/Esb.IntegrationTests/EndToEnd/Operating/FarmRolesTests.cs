using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>A farm in which one host takes messages in and another delivers them.</summary>
[CancelAfter(120_000)]
public sealed class FarmRolesTests
{
    private ServerSections _servers = null!;
    private DirectoryInfo _folder = null!;
    private RunningHost _receiver = null!;
    private RunningHost _deliverer = null!;

    private string Configuration => Path.Combine(_folder.FullName, "esb.json");

    private string Ledger => Path.Combine(_folder.FullName, "ledger");

    [SetUp]
    public async Task StartHosts()
    {
        _servers = await ServerSections.ShareAsync();
        _folder = Directory.CreateTempSubdirectory("esb-roles-");
        await File.WriteAllTextAsync(
            Configuration,
            $$"""
            {
              "name": "roles",
              {{_servers.Next()}}
              "topics": { "orders": {} },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "publish": "orders.new", "roles": ["receive"] },
                "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": {{JsonSerializer.Serialize(Ledger)}},
                            "fileName": "{message.id}.json", "roles": ["deliver"] }
              }
            }
            """
        );
        _receiver = await StartAsync("receive");
        _deliverer = await StartAsync("deliver");
    }

    [TearDown]
    public async Task StopHosts()
    {
        await _receiver.DisposeAsync();
        await _deliverer.DisposeAsync();
        await _servers.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Host_that_receives_and_host_that_delivers_work_together_and_outlast_one_another(CancellationToken cancellationToken)
    {
        await PostAsync(cancellationToken);
        await AwaitFilesAsync(1, cancellationToken);
        var states = await StatesAsync(_receiver, cancellationToken);

        _deliverer.Kill();
        for (var i = 0; i < 5; i++)
            await PostAsync(cancellationToken);
        Assert.That(CountFiles(), Is.EqualTo(1), "no host delivers");
        await _deliverer.DisposeAsync();
        _deliverer = await StartAsync("deliver");
        await AwaitFilesAsync(6, cancellationToken);

        Assert.That(states, Is.EquivalentTo(new[] { "shop=running", "ledger=disabled" }));
        Assert.That(await StatesAsync(_deliverer, cancellationToken), Is.EquivalentTo(new[] { "shop=disabled", "ledger=running" }));
    }

    private Task<RunningHost> StartAsync(string role) =>
        RunningHost.StartAsync(
            Configuration,
            Directory.CreateDirectory(Path.Combine(_folder.FullName, role)).FullName,
            CancellationToken.None,
            new Dictionary<string, string>(_servers.Variables) { ["ESB__HOST__ROLES"] = $"[\"{role}\"]" }
        );

    private async Task PostAsync(CancellationToken cancellationToken)
    {
        using var answer = await _receiver.PostAsync("/orders", "{}", "application/json", cancellationToken);
        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
    }

    private Task AwaitFilesAsync(int count, CancellationToken cancellationToken) =>
        _deliverer.WaitAsync(
            _ => Task.FromResult(CountFiles() == count),
            TimeSpan.FromSeconds(60),
            $"to write {count} files",
            cancellationToken
        );

    private int CountFiles() => Directory.Exists(Ledger) ? Directory.GetFiles(Ledger, "*.json").Length : 0;

    private static async Task<IReadOnlyList<string>> StatesAsync(RunningHost host, CancellationToken cancellationToken) =>
        [
            .. (await host.AskAsync("/api/endpoints", cancellationToken))
                .GetProperty("items")
                .EnumerateArray()
                .Select(endpoint => $"{endpoint.GetProperty("name")}={endpoint.GetProperty("state")}"),
        ];
}
