using System.Net;
using System.Text.Json;
using Esb.Host.Commands;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Microsoft.Data.Sqlite;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>A backup of the embedded store, made while its host works, and restored into the empty folder of another host.</summary>
[CancelAfter(120_000), Category("Thorough")]
public sealed class EmbeddedRestoreTests
{
    private DirectoryInfo _folder = null!;

    [SetUp]
    public async Task WriteConfiguration()
    {
        _folder = Directory.CreateTempSubdirectory("esb-embedded-restore-");
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            """
            {
              "name": "restored",
              "topics": { "letters": {}, "jobs": {} },
              "processes": { "send": [{ "fail": "not yet" }] },
              "workflows": {
                "job": {
                  "start": "jobs.new",
                  "correlate": { "job": { "message": "body" } },
                  "steps": [{ "id": "go", "receive": { "subscribe": "jobs.go", "match": { "job": { "message": "body" } } } }]
                }
              },
              "endpoints": {
                "letters": { "type": "http-inbound", "path": "/letters", "publish": "letters.new" },
                "jobs": { "type": "http-inbound", "path": "/jobs", "publish": "jobs.new" },
                "go": { "type": "http-inbound", "path": "/go", "publish": "jobs.go" },
                "refusing": { "type": "file-outbound", "folder": "out", "fileName": "{message.id}", "process": "send", "subscribe": ["letters.#"],
                              "retry": { "immediate": 0, "delays": [] } }
              }
            }
            """
        );
    }

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task Restored_host_has_letters_workflows_versions_tuned_settings_and_facts(CancellationToken cancellationToken)
    {
        var (copy, letter, version) = (_folder.CreateSubdirectory("copy").FullName, "", 0L);
        await using (var host = await StartAsync("before", cancellationToken))
        {
            await PostAsync(host, "/letters", "1", cancellationToken);
            await PostAsync(host, "/jobs", "job-1", cancellationToken);
            letter = (await AwaitOneAsync(host, "/api/dead-letters", cancellationToken)).GetProperty("id").GetString()!;
            await AwaitOneAsync(host, "/api/workflows", cancellationToken);
            version = (await AwaitOneAsync(host, "/api/configuration/versions", cancellationToken)).GetProperty("number").GetInt64();
            await EsbAsync(host, cancellationToken, "endpoints", "set", "refusing", "--pool-size", "3");
            await BackUpAsync(host, copy, cancellationToken);
            await PostAsync(host, "/letters", "later", cancellationToken);
        }

        var data = Directory.CreateDirectory(Path.Combine(_folder.FullName, "after", "esb-data")).FullName;
        File.Move(Path.Combine(copy, "store.db"), Path.Combine(data, "store.db"));
        Directory.Move(Path.Combine(copy, "audit"), Path.Combine(data, "audit"));
        await using var restored = await StartAsync("after", cancellationToken);
        var kept = await AwaitOneAsync(restored, "/api/dead-letters", cancellationToken);
        var endpoint = await restored.AskAsync("/api/endpoints/refusing", cancellationToken);
        var versions = await AwaitOneAsync(restored, "/api/configuration/versions", cancellationToken);
        await PostAsync(restored, "/go", "job-1", cancellationToken);
        await restored.WaitAsync(
            async token => (await AwaitOneAsync(restored, "/api/workflows", token)).GetProperty("state").GetString() == "completed",
            TimeSpan.FromSeconds(30),
            "to go on with the workflow",
            cancellationToken
        );
        var facts = (await restored.AskAsync("/api/messages?kind=dead-lettered", cancellationToken)).GetProperty("items");

        Assert.That(kept.GetProperty("id").GetString(), Is.EqualTo(letter), "and not what came after the backup");
        Assert.That(versions.GetProperty("number").GetInt64(), Is.EqualTo(version));
        Assert.That(endpoint.GetProperty("current").GetProperty("poolSize").GetInt32(), Is.EqualTo(3));
        Assert.That(facts.GetArrayLength(), Is.EqualTo(1));
    }

    // As docs/operate/backup.md says: .backup of the database, then a copy of the folder. (cp copies the lock file, too, which is nothing.)
    private static async Task BackUpAsync(RunningHost host, string target, CancellationToken cancellationToken)
    {
        var data = Path.Combine(host.Folder, "esb-data");
        await using (var source = new SqliteConnection($"Data Source={Path.Combine(data, "store.db")};Mode=ReadOnly;Pooling=False"))
        await using (var copy = new SqliteConnection($"Data Source={Path.Combine(target, "store.db")};Pooling=False"))
        {
            await source.OpenAsync(cancellationToken);
            await copy.OpenAsync(cancellationToken);
            source.BackupDatabase(copy);
        }

        var audit = Directory.CreateDirectory(Path.Combine(target, "audit")).FullName;
        foreach (var file in Directory.GetFiles(Path.Combine(data, "audit")).Where(file => Path.GetFileName(file) != "lock"))
            File.Copy(file, Path.Combine(audit, Path.GetFileName(file)));
    }

    private Task<RunningHost> StartAsync(string name, CancellationToken cancellationToken) =>
        RunningHost.StartAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            Directory.CreateDirectory(Path.Combine(_folder.FullName, name)).FullName,
            cancellationToken
        );

    private static async Task<JsonElement> AwaitOneAsync(RunningHost host, string list, CancellationToken cancellationToken)
    {
        var items = new List<JsonElement>();
        await host.WaitAsync(
            async token => (items = [.. (await host.AskAsync(list, token)).GetProperty("items").EnumerateArray()]).Count == 1,
            TimeSpan.FromSeconds(30),
            $"to have one of {list}",
            cancellationToken
        );
        return items[0];
    }

    private static async Task PostAsync(RunningHost host, string path, string body, CancellationToken cancellationToken)
    {
        using var response = await host.PostAsync(path, body, "text/plain", cancellationToken);
        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.Accepted), await response.Content.ReadAsStringAsync(cancellationToken));
    }

    private static async Task EsbAsync(RunningHost host, CancellationToken cancellationToken, params string[] arguments)
    {
        var (exitCode, _, error) = await CommandLine.RunAsync(
            host.Folder,
            cancellationToken,
            [.. arguments, "--url", host.Management.OriginalString]
        );
        Assert.That(exitCode, Is.EqualTo(ExitCode.Done), error);
    }
}
