using System.Diagnostics;
using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>A broker and a database of a fixture's own, and hosts with something of everything that a backup keeps: a dead letter, a parked
/// key, a workflow that waits, versions and an audit.</summary>
public abstract class RestoreFixture
{
    private ServerSections _servers = null!;
    private DirectoryInfo _folder = null!;

    private protected ServerSections Servers => _servers;

    private protected string Folder => _folder.FullName;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("esb-restore-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    private protected async Task<RunningHost> StartAsync(
        string name,
        string prefix,
        string step,
        string connection,
        CancellationToken cancellationToken
    )
    {
        var folder = _folder.CreateSubdirectory(name).FullName;
        await File.WriteAllTextAsync(
            Path.Combine(folder, "esb.json"),
            $$"""
            {
              "name": "restored",
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{Servers.Name}}-{{prefix}}" },
              "store": { "type": "postgres", "connection": "${env:ESB_STORE}" },
              "topics": { "letters": {}, "keys": { "key": { "message": "body" } }, "jobs": {} },
              "processes": { "send": [{{step}}] },
              "workflows": {
                "job": {
                  "start": "jobs.new",
                  "correlate": { "job": { "message": "body" } },
                  "steps": [{ "id": "go", "receive": { "subscribe": "jobs.go", "match": { "job": { "message": "body" } } } }]
                }
              },
              "endpoints": {
                "letters": { "type": "http-inbound", "path": "/letters", "publish": "letters.new" },
                "parked": { "type": "http-inbound", "path": "/parked", "publish": "keys.new" },
                "jobs": { "type": "http-inbound", "path": "/jobs", "publish": "jobs.new" },
                "go": { "type": "http-inbound", "path": "/go", "publish": "jobs.go" },
                "refusing": { "type": "file-outbound", "folder": "out", "fileName": "{message.id}", "process": "send", "subscribe": ["letters.#"],
                              "retry": { "immediate": 0, "delays": [] } },
                "keyed": { "type": "file-outbound", "folder": "out", "fileName": "{message.id}", "process": "send", "subscribe": ["keys.#"],
                           "delivery": "ordered-by-key", "retry": { "immediate": 0, "delays": [] } }
              }
            }
            """,
            cancellationToken
        );
        var host = await RunningHost.StartAsync(
            folder,
            folder,
            cancellationToken,
            new Dictionary<string, string>(_servers.Variables) { ["ESB_STORE"] = connection }
        );
        return host;
    }

    private protected static IEnumerable<string> AddressOf(NpgsqlConnectionStringBuilder connection) =>
        [$"--host={connection.Host}", $"--port={connection.Port}", $"--username={connection.Username}"];

    private protected static async Task RunAsync(string program, IEnumerable<string> arguments, CancellationToken cancellationToken)
    {
        using var process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardError = true })!;
        var error = await process.StandardError.ReadToEndAsync(cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        Assert.That(process.ExitCode, Is.Zero, $"{program}: {error}");
    }

    private protected static async Task PostAsync(RunningHost host, string path, string body, CancellationToken cancellationToken)
    {
        using var response = await host.PostAsync(path, body, "text/plain", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), await response.Content.ReadAsStringAsync(cancellationToken));
    }

    private protected static Task AwaitAsync(RunningHost host, string list, int count, CancellationToken cancellationToken) =>
        host.WaitAsync(
            async token => (await ItemsAsync(host, list, token)).Count == count,
            TimeSpan.FromSeconds(60),
            $"to have {count} in {list}",
            cancellationToken
        );

    private protected static async Task<IReadOnlyList<JsonElement>> ItemsAsync(
        RunningHost host,
        string list,
        CancellationToken cancellationToken
    ) => [.. (await host.AskAsync(list, cancellationToken)).GetProperty("items").EnumerateArray()];

    private protected async Task<(int ExitCode, string Output, string Error)> EsbAsync(
        RunningHost host,
        string connection,
        CancellationToken cancellationToken,
        params string[] arguments
    )
    {
        var isOffline = arguments.Contains("--config");
        var variables = new Dictionary<string, string>(_servers.Variables) { ["ESB_STORE"] = connection };
        return await CommandLine.RunAsync(
            host.Folder,
            variables,
            cancellationToken,
            isOffline ? arguments : [.. arguments, "--url", host.Management.OriginalString]
        );
    }
}
