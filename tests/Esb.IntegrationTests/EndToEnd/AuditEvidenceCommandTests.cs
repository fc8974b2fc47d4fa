using System.Text.Json;
using Dapper;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary><c>esb audit verify|erase|archive</c> on what a host recorded.</summary>
public sealed class AuditEvidenceCommandTests
{
    private static readonly IReadOnlyDictionary<string, string> Variables = new Dictionary<string, string> { ["ESB_POSTGRES"] = Servers.Postgres, ["ANCHOR_KEY"] = "0123456789abcdef" };

    private DirectoryInfo _folder = null!;
    private string _schema = null!;

    [SetUp]
    public void Prepare()
    {
        _folder = Directory.CreateTempSubdirectory("esb-evidence-");
        _schema = $"esb_{Guid.NewGuid():N}";
    }

    [TearDown]
    public async Task CleanUp()
    {
        await ExecuteAsync($"drop schema if exists {_schema} cascade");
        _folder.Delete(recursive: true);
    }

    [Test, CancelAfter(180_000), Property("Case", "AUD-08")]
    public async Task What_a_host_recorded_is_erased_archived_and_verified_by_commands(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "esb.json"), Configuration(), cancellationToken);
        var message = await RecordAndEraseAsync(cancellationToken);

        var sound = await RunAsync(cancellationToken, "verify", "--config", "esb.json");
        var archived = await RunAsync(cancellationToken, "archive", "--config", "esb.json", "--before", "2999-01-01", "--to", "archive");
        var file = Directory.GetFiles(Path.Combine(_folder.FullName, "archive")).Single();
        var restored = await RunAsync(cancellationToken, "archive", "--config", "esb.json", "--restore", file);
        var archive = await RunAsync(cancellationToken, "verify", "--config", "esb.json", "--archive", file);
        await ExecuteAsync($"update {_schema}.audit_event set endpoint = 'other' where number = 2");
        var changed = await RunAsync(cancellationToken, "verify", "--config", "esb.json");
        var refused = await RunAsync(cancellationToken, "archive", "--config", "esb.json", "--before", "2999-01-01", "--to", "archive", "--drop");

        Assert.That(sound.ExitCode, Is.Zero, sound.Output + sound.Error);
        Assert.That(sound.Output, Does.Contain("1 bodies erased").And.Contains(" 0 breaks"));
        Assert.That(archived.ExitCode, Is.Zero, archived.Error);
        Assert.That((restored.ExitCode, archive.ExitCode), Is.EqualTo((0, 0)), restored.Error + archive.Error);
        Assert.That(restored.Output, Does.Contain(": 0 of "));
        Assert.That((changed.ExitCode, refused.ExitCode), Is.EqualTo((6, 6)), changed.Error);
        Assert.That(changed.Error, Does.Contain("ESB-AUD-BROKEN").And.Contains("fact 2 ").And.Contains("no anchor before it"));
        TestContext.Out.WriteLine($"{message}\n{sound.Output}\n{archived.Output}\n{changed.Error}");
    }

    private async Task<string> RecordAndEraseAsync(CancellationToken cancellationToken)
    {
        await using var host = await HostProcess.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);
        using var response = await host.PostAsync("/orders", """{"order":"A-1001"}""", "application/json", cancellationToken);
        var id = JsonDocument.Parse(await response.Content.ReadAsStringAsync(cancellationToken)).RootElement.GetProperty("messageId").GetString()!;
        await host.WaitAsync(async token => (await RunAsync(token, "show", id, "--json", "--config", "esb.json")).Output.Contains("A-1001", StringComparison.Ordinal), TimeSpan.FromSeconds(30), "to move its facts", cancellationToken);

        var erased = await RunAsync(cancellationToken, "erase", id, "--reason", "request 4711", "--url", host.Management.ToString());

        var shown = await RunAsync(cancellationToken, "show", id, "--json", "--config", "esb.json");
        Assert.That(erased.ExitCode, Is.Zero, erased.Error);
        Assert.That(erased.Output, Does.Contain("1 bodies erased").And.Not.Contains("nothing is recorded"));
        Assert.That(early.ExitCode, Is.Zero, early.Error);
        Assert.That(early.Output, Does.Contain("0 bodies erased; nothing is recorded of this message yet; those that still wait on a host are erased as they arrive"));
        Assert.That(shown.Output, Does.Not.Contain("A-1001").And.Contains("request 4711"), shown.Error);
        Assert.That(await host.StopAsync(cancellationToken), Is.Zero, host.Output);
        return id;
        var early = await RunAsync(cancellationToken, "erase", $"{Guid.NewGuid()}", "--reason", "request 4712", "--url", host.Management.ToString());
    }

    private string Configuration() => $$"""
        {
          "transport": { "type": "memory" },
          "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_schema}}" },
          "audit": { "anchors": "anchors", "anchorKey": "${env:ANCHOR_KEY}" },
          "endpoints": { "shop": { "type": "http-inbound", "path": "/orders", "process": "take" } },
          "processes": { "take": [{ "audit": { "as": "taken", "body": true } }] }
        }
        """;

    private Task<(int ExitCode, string Output, string Error)> RunAsync(CancellationToken cancellationToken, params string[] arguments) =>
        CommandLine.RunAsync(_folder.FullName, Variables, cancellationToken, ["audit", .. arguments]);

    private static async Task ExecuteAsync(string sql)
    {
        await using var connection = new NpgsqlConnection(Servers.Postgres);
        await connection.ExecuteAsync(sql);
    }
}
