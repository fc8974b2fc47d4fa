using System.Diagnostics;
using System.Net;
using System.Text.Json;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Tests;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>A backup of the store's database, restored into an empty farm: other queues, another database, nothing in the folders of the
/// host.</summary>
[CancelAfter(240_000)]
public sealed class RestoreTests
{
    private ServerSections _servers = null!;
    private DirectoryInfo _folder = null!;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("esb-restore-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task Restored_farm_has_letters_parked_keys_workflows_versions_and_a_chain_that_verifies(
        CancellationToken cancellationToken
    )
    {
        var connection = new NpgsqlConnectionStringBuilder(_servers.Postgres);
        var dump = Path.Combine(_folder.FullName, "esb.dump");
        string letter;
        await using (
            var host = await StartAsync("before", "live", """{ "fail": "not yet" }""", connection.ConnectionString, cancellationToken)
        )
        {
            await PostAsync(host, "/letters", "1", cancellationToken);
            await PostAsync(host, "/parked", "a", cancellationToken);
            await PostAsync(host, "/parked", "a", cancellationToken);
            await PostAsync(host, "/jobs", "job-1", cancellationToken);
            await AwaitAsync(host, "/api/dead-letters", 1, cancellationToken);
            await AwaitAsync(host, "/api/parked", 1, cancellationToken);
            await AwaitAsync(host, "/api/workflows", 1, cancellationToken);
            letter = (await ItemsAsync(host, "/api/dead-letters", cancellationToken))[0].GetProperty("id").GetString()!;
            Assert.That(await host.StopAsync(cancellationToken), Is.Zero, host.Output); // moves its facts to the database
        }

        await RunAsync("pg_dump", ["--format=custom", $"--file={dump}", .. AddressOf(connection), connection.Database!], cancellationToken);
        await using (var source = NpgsqlDataSource.Create(connection))
        await using (var command = source.CreateCommand("create database restored"))
            await command.ExecuteNonQueryAsync(cancellationToken);
        await RunAsync("pg_restore", ["--exit-on-error", .. AddressOf(connection), "--dbname=restored", dump], cancellationToken);

        connection.Database = "restored";
        await using var restored = await StartAsync(
            "after",
            "empty",
            """{ "log": "goes" }""",
            connection.ConnectionString,
            cancellationToken
        );
        var letters = await ItemsAsync(restored, "/api/dead-letters", cancellationToken);
        var parked = await ItemsAsync(restored, "/api/parked", cancellationToken);
        var versions = await ItemsAsync(restored, "/api/configuration/versions", cancellationToken);
        Assert.That(letters.Select(one => one.GetProperty("id").GetString()), Is.EqualTo(new[] { letter }));
        Assert.That(parked.Select(one => one.GetProperty("count").GetInt64()), Is.EqualTo(new[] { 2L }));
        Assert.That(versions, Is.Not.Empty);

        var replayed = await EsbAsync(restored, cancellationToken, "dead-letters", "replay", letter, "--reason", "restored");
        var released = await EsbAsync(
            restored,
            cancellationToken,
            "parked",
            "release",
            "keyed",
            parked[0].GetProperty("line").GetString()!,
            "--reason",
            "restored"
        );
        await PostAsync(restored, "/go", "job-1", cancellationToken);
        await AwaitAsync(restored, "/api/parked", 0, cancellationToken);
        await restored.WaitAsync(
            async token =>
                (await ItemsAsync(restored, "/api/workflows", token)).Select(one => one.GetProperty("state").GetString()).Single()
                == "completed",
            TimeSpan.FromSeconds(60),
            "to complete the workflow",
            cancellationToken
        );
        Assert.That((replayed.ExitCode, released.ExitCode), Is.EqualTo((0, 0)), replayed.Error + released.Error);
        Assert.That(await restored.StopAsync(cancellationToken), Is.Zero, restored.Output);

        var verified = await EsbAsync(restored, cancellationToken, "audit", "verify", "--config", restored.Folder);
        Assert.That(verified.ExitCode, Is.Zero, verified.Output + verified.Error);
    }

    private async Task<HostProcess> StartAsync(
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
              "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{prefix}}" },
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
        var host = await HostProcess.StartAsync(
            folder,
            folder,
            cancellationToken,
            new Dictionary<string, string>(_servers.Variables) { ["ESB_STORE"] = connection }
        );
        return host;
    }

    private static IEnumerable<string> AddressOf(NpgsqlConnectionStringBuilder connection) =>
        [$"--host={connection.Host}", $"--port={connection.Port}", $"--username={connection.Username}"];

    private static async Task RunAsync(string program, IEnumerable<string> arguments, CancellationToken cancellationToken)
    {
        using var process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardError = true })!;
        var error = await process.StandardError.ReadToEndAsync(cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        Assert.That(process.ExitCode, Is.Zero, $"{program}: {error}");
    }

    private static async Task PostAsync(HostProcess host, string path, string body, CancellationToken cancellationToken)
    {
        using var response = await host.PostAsync(path, body, "text/plain", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), await response.Content.ReadAsStringAsync(cancellationToken));
    }

    private static Task AwaitAsync(HostProcess host, string list, int count, CancellationToken cancellationToken) =>
        host.WaitAsync(
            async token => (await ItemsAsync(host, list, token)).Count == count,
            TimeSpan.FromSeconds(60),
            $"to have {count} in {list}",
            cancellationToken
        );

    private static async Task<IReadOnlyList<JsonElement>> ItemsAsync(HostProcess host, string list, CancellationToken cancellationToken) =>
        [.. (await host.AskAsync(list, cancellationToken)).GetProperty("items").EnumerateArray()];

    private async Task<(int ExitCode, string Output, string Error)> EsbAsync(
        HostProcess host,
        CancellationToken cancellationToken,
        params string[] arguments
    )
    {
        var isOffline = arguments.Contains("--config");
        var variables = new Dictionary<string, string>(_servers.Variables)
        {
            ["ESB_STORE"] = new NpgsqlConnectionStringBuilder(_servers.Postgres) { Database = "restored" }.ConnectionString,
        };
        return await CommandLine.RunAsync(
            host.Folder,
            variables,
            cancellationToken,
            isOffline ? arguments : [.. arguments, "--url", host.Management.OriginalString]
        );
    }
}
