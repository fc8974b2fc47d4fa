using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>A host with a broker and a database that has marks of queues, sessions, instances and the database.</summary>
public abstract class MarkFixture
{
    private DirectoryInfo _folder = null!;

    private protected ServerSections Servers { get; private set; } = null!;

    private protected RunningHost Host { get; private set; } = null!;

    private protected string Folder => _folder.FullName;

    private protected abstract Task<ServerSections> StartServersAsync();

    [OneTimeSetUp]
    public async Task StartHost()
    {
        Servers = await StartServersAsync();
        _folder = Directory.CreateTempSubdirectory("esb-marks-");
        var configuration = Path.Combine(_folder.FullName, "esb.json");
        var health = "\"health\": { \"lockWait\": \"1s\", \"transaction\": \"2s\", \"databaseSize\": \"1MiB\" }";
        var store = Servers.Next().Replace("\"schema\"", $"{health}, \"schema\"");
        await File.WriteAllTextAsync(
            configuration,
            $$"""
            {
              "name": "marks",
              {{store}}
              "limits": { "sessionsHigh": 2, "sessionsLow": 0, "instancesHigh": 3, "instancesLow": 1 },
              "connections": { "db": { "connection": "${env:ESB_POSTGRES}" } },
              "topics": { "orders": {}, "jobs": {}, "esb-events": {} },
              "workflows": {
                "job": {
                  "start": "jobs.new",
                  "steps": [{ "id": "wait", "delay": "1h" }]
                }
              },
              "processes": {
                "sleep": [{ "call": "sleep" }, { "respond": { "body": "slept" } }],
                "quick": [{ "respond": { "body": "quick" } }]
              },
              "endpoints": {
                "shop": { "type": "http-inbound", "path": "/orders", "publish": "orders.new" },
                "jobs": { "type": "http-inbound", "path": "/jobs", "publish": "jobs.new" },
                "sleeping": { "type": "http-inbound", "path": "/sleep", "mode": "request-reply", "process": "sleep" },
                "quick": { "type": "http-inbound", "path": "/quick", "mode": "request-reply", "process": "quick" },
                "sleep": { "type": "sql-outbound", "connection": "db", "query": "select pg_sleep(6)", "poolSize": 8, "processingThreads": 8 },
                "ledger": { "type": "file-outbound", "subscribe": ["orders.#"], "folder": "out", "fileName": "{message.id}", "paused": true,
                            "waitingHigh": 5, "waitingLow": 2 },
                "alarm": { "type": "file-outbound", "subscribe": ["esb-events.marks.mark"], "folder": "alarms", "fileName": "{message.id}.json" }
              }
            }
            """
        );
        Host = await RunningHost.StartAsync(
            configuration,
            _folder.CreateSubdirectory("host").FullName,
            CancellationToken.None,
            Servers.Variables
        );
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await Host.DisposeAsync();
        await Servers.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    private protected Task AwaitAsync(string mark, bool isCrossed, CancellationToken cancellationToken) =>
        Host.WaitAsync(
            async token => (await FindAsync(mark, token))?.GetProperty("isCrossed").GetBoolean() == isCrossed,
            TimeSpan.FromSeconds(60),
            $"to {(isCrossed ? "cross" : "leave")} the mark {mark}",
            cancellationToken
        );

    private protected async Task<JsonElement> MarkAsync(string mark, CancellationToken cancellationToken) =>
        await FindAsync(mark, cancellationToken) ?? throw new AssertionException($"there is no mark {mark}");

    private async Task<JsonElement?> FindAsync(string mark, CancellationToken cancellationToken) =>
        (await Host.AskAsync("/api/marks", cancellationToken))
            .GetProperty("items")
            .EnumerateArray()
            .Where(item => item.GetProperty("name").GetString() == mark)
            .Select(item => (JsonElement?)item)
            .SingleOrDefault();

    private protected async Task<HttpStatusCode> PostAsync(string path, CancellationToken cancellationToken)
    {
        using var response = await Host.PostAsync(path, "{}", "application/json", cancellationToken);
        return response.StatusCode;
    }

    private protected Task<(int ExitCode, string Output, string Error)> EsbAsync(
        CancellationToken cancellationToken,
        params string[] arguments
    ) => CommandLine.RunAsync(Host.Folder, cancellationToken, [.. arguments, "--url", Host.Management.OriginalString]);
}
