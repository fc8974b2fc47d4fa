using System.Text.Json;
using Dapper;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Storage.Postgres.Audit;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Recording;

/// <summary><c>esb audit verify|erase|archive</c> on what a host recorded.</summary>
public sealed class AuditEvidenceCommandTests
{
    private static readonly IReadOnlyDictionary<string, string> Variables = new Dictionary<string, string>
    {
        ["ESB_POSTGRES"] = Servers.Postgres,
        ["ANCHOR_KEY"] = "0123456789abcdef",
    };

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

    [Test, Category("Thorough"), CancelAfter(180_000), Property("Case", "AUD-08")]
    public async Task What_a_host_recorded_is_erased_archived_and_verified_by_commands(CancellationToken cancellationToken)
    {
        await WriteAsync("esb.json", """{ "anchors": "anchors", "anchorKey": "${env:ANCHOR_KEY}", "anchorInterval": "1s" }""");
        await WriteAsync("plain.json", "{}");
        var (message, anchored) = await RecordAndEraseAsync(cancellationToken);

        var sound = await RunAsync(cancellationToken, "verify", "--config", "esb.json");
        var archived = await RunAsync(cancellationToken, "archive", "--config", "esb.json", "--before", "2999-01-01", "--to", "archive");
        var file = Directory.GetFiles(Path.Combine(_folder.FullName, "archive")).Single();
        var restored = await RunAsync(cancellationToken, "archive", "--config", "esb.json", "--restore", file);
        var archive = await RunAsync(cancellationToken, "verify", "--config", "esb.json", "--archive", file);
        var unanchored = await RunAsync(cancellationToken, "verify", "--config", "plain.json");
        var lateTo = await ChangeRowAfterAsync(anchored);
        var late = await RunAsync(cancellationToken, "verify", "--config", "esb.json");
        var changedTo = await ChangeRowAfterAsync(0);
        var changed = await RunAsync(cancellationToken, "verify", "--config", "esb.json");
        var refused = await RunAsync(cancellationToken, "archive", "--config", "esb.json", "--before", "2999-01-01", "--to", "archive");
        var early = await RunAsync(
            cancellationToken,
            "archive",
            "--config",
            "esb.json",
            "--before",
            "2999-01-01",
            "--to",
            "archive",
            "--drop"
        );
        var nothing = await RunAsync(cancellationToken, "verify", "--config", "esb.json", "--from", "2999-01-01");
        var swapped = await RunAsync(cancellationToken, "verify", "--config", "esb.json", "--from", "2026-03-31", "--to", "2026-03-01");
        var noDay = await RunAsync(cancellationToken, "verify", "--config", "esb.json", "--from", "yesterday");
        var noEnd = await RunAsync(
            cancellationToken,
            "archive",
            "--config",
            "esb.json",
            "--before",
            "tomorrow",
            "--to",
            "archive",
            "--drop"
        );
        var both = await RunAsync(cancellationToken, "verify", "--config", "esb.json", "--archive", file, "--from", "2026-03-01");

        Assert.That(sound.ExitCode, Is.Zero, sound.Output + sound.Error);
        Assert.That(sound.Output, Does.Contain("1 bodies erased").And.Contains(" 0 breaks").And.Not.Contains("No anchors"));
        Assert.That(archived.ExitCode, Is.Zero, archived.Error);
        Assert.That((restored.ExitCode, archive.ExitCode), Is.EqualTo((0, 0)), restored.Error + archive.Error);
        Assert.That(restored.Output, Does.Contain(": 0 of "));
        Assert.That(unanchored.ExitCode, Is.Zero, unanchored.Error);
        Assert.That(unanchored.Output, Does.Contain(" 0 breaks").And.Contains("No anchors (audit.anchors is not set)"));
        Assert.That((late.ExitCode, changed.ExitCode, refused.ExitCode), Is.EqualTo((6, 6, 6)), changed.Error);
        Assert.That(
            new[] { early, swapped, noDay, noEnd, both }.Select(run => run.ExitCode),
            Is.All.EqualTo(2),
            early.Error + swapped.Error + noDay.Error + noEnd.Error + both.Error
        );
        Assert.That((nothing.ExitCode, nothing.Output.Contains("Nothing was there to be verified.")), Is.EqualTo((0, true)), nothing.Error);
        Assert.That(
            late.Error,
            Does.Contain("ESB-AUD-BROKEN").And.Contains(Places(anchored + 1, lateTo)).And.Contains($"last good anchor: fact {anchored}, ")
        );
        Assert.That(changed.Error, Does.Contain("ESB-AUD-BROKEN").And.Contains(Places(1, changedTo)).And.Contains("no anchor before it"));
        TestContext.Out.WriteLine($"{message}\n{sound.Output}\n{archived.Output}\n{changed.Error}");
    }

    [Test, CancelAfter(180_000)]
    public async Task Running_host_verifies_its_facts_and_finds_the_one_that_was_changed(CancellationToken cancellationToken)
    {
        await WriteAsync("esb.json", """{ "anchors": "anchors", "anchorKey": "${env:ANCHOR_KEY}", "anchorInterval": "1s" }""");
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);
        await host.WaitAsync(
            async token =>
            {
                await SendAsync(host, token);
                return FirstAnchored() is not null;
            },
            TimeSpan.FromSeconds(60),
            "to write two anchors",
            cancellationToken
        );

        var sound = await host.AskAsync("/api/evidence", cancellationToken);
        var (rows, facts) = await CountAsync();
        var last = await ChangeRowAfterAsync(0);
        var changed = await host.AskAsync("/api/evidence?strict=true", cancellationToken);
        var past = await host.AskAsync("/api/evidence?from=2026-01-01&to=2026-01-31", cancellationToken);

        Assert.That(sound.GetProperty("totalBreaks").GetInt64(), Is.Zero);
        Assert.That(facts, Is.GreaterThan(rows), "what was received and completed shares a row");
        Assert.That(changed.GetProperty("totalBreaks").GetInt64(), Is.EqualTo(1));
        var found = changed.GetProperty("breaks")[0];
        Assert.That((found.GetProperty("from").GetInt64(), found.GetProperty("to").GetInt64()), Is.EqualTo((1, last)));
        Assert.That(past.GetProperty("facts").GetInt64(), Is.Zero);
    }

    [Test, Category("Thorough"), CancelAfter(180_000)]
    public async Task Host_without_chains_says_so(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "esb.json"), """{ "name": "plain" }""", cancellationToken);
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);

        var (exitCode, _, error) = await CommandLine.RunAsync(
            _folder.FullName,
            Variables,
            cancellationToken,
            "audit",
            "verify",
            "--config",
            "esb.json"
        );
        var key = await File.ReadAllTextAsync(Path.Combine(_folder.FullName, "esb-data", "management.key"), cancellationToken);
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(host.Management, "/api/evidence"));
        request.Headers.Add("X-Esb-Key", key.Trim());
        using var answer = await host.Client.SendAsync(request, cancellationToken);

        Assert.That(exitCode, Is.EqualTo(2), error);
        Assert.That(answer.StatusCode, Is.EqualTo(System.Net.HttpStatusCode.Conflict));
        Assert.That(await answer.Content.ReadAsStringAsync(cancellationToken), Does.Contain("ESB-AUD-UNCHAINED"));
    }

    // The message whose body was erased, and how many facts the first anchor confirms; there are more.
    private async Task<(string Message, long Anchored)> RecordAndEraseAsync(CancellationToken cancellationToken)
    {
        await using var host = await RunningHost.StartAsync("esb.json", _folder.FullName, cancellationToken, Variables);
        var id = await SendAsync(host, cancellationToken);
        await host.WaitAsync(
            async token =>
                (await RunAsync(token, "show", id, "--json", "--config", "esb.json")).Output.Contains("A-1001", StringComparison.Ordinal),
            TimeSpan.FromSeconds(30),
            "to move its facts",
            cancellationToken
        );

        var erased = await RunAsync(cancellationToken, "erase", id, "--reason", "request 4711", "--url", host.Management.ToString());
        var early = await RunAsync(
            cancellationToken,
            "erase",
            $"{Guid.NewGuid()}",
            "--reason",
            "request 4712",
            "--url",
            host.Management.ToString()
        );

        var shown = await RunAsync(cancellationToken, "show", id, "--json", "--config", "esb.json");
        Assert.That(erased.ExitCode, Is.Zero, erased.Error);
        Assert.That(erased.Output, Does.Contain("1 bodies erased").And.Not.Contains("nothing is recorded"));
        Assert.That(early.ExitCode, Is.Zero, early.Error);
        Assert.That(
            early.Output,
            Does.Contain(
                "0 bodies erased; nothing is recorded of this message yet; those that still wait on a host are erased as they arrive"
            )
        );
        Assert.That(shown.Output, Does.Not.Contain("A-1001").And.Contains("request 4711"), shown.Error);
        await host.WaitAsync(
            _ => Task.FromResult(FirstAnchored() is not null),
            TimeSpan.FromSeconds(30),
            "to write an anchor",
            cancellationToken
        );
        var anchored = FirstAnchored()!.Value;
        await SendAsync(host, cancellationToken);
        Assert.That(await host.StopAsync(cancellationToken), Is.Zero, host.Output);
        return (id, anchored);
    }

    private static async Task<string> SendAsync(RunningHost host, CancellationToken cancellationToken)
    {
        using var response = await host.PostAsync("/orders", """{"order":"A-1001"}""", "application/json", cancellationToken);
        return JsonDocument
            .Parse(await response.Content.ReadAsStringAsync(cancellationToken))
            .RootElement.GetProperty("messageId")
            .GetString()!;
    }

    private long? FirstAnchored()
    {
        var folder = new DirectoryInfo(Path.Combine(_folder.FullName, "anchors"));
        if (!folder.Exists || folder.GetFiles() is not [var file] || File.ReadAllText(file.FullName).Split('\n') is not [var line, _, ..])
            return null;
        return JsonDocument.Parse(line).RootElement.GetProperty("count").GetInt64();
    }

    private Task WriteAsync(string file, string audit) =>
        File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, file),
            $$"""
            {
              "transport": { "type": "memory" },
              "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_schema}}" },
              "audit": {{audit}},
              "endpoints": { "shop": { "type": "http-inbound", "path": "/orders", "process": "take" } },
              "processes": { "take": [{ "audit": { "as": "taken", "body": true } }] }
            }
            """
        );

    private Task<(int ExitCode, string Output, string Error)> RunAsync(CancellationToken cancellationToken, params string[] arguments) =>
        CommandLine.RunAsync(_folder.FullName, Variables, cancellationToken, ["audit", .. arguments]);

    private async Task<(long Rows, long Facts)> CountAsync()
    {
        await using var connection = new NpgsqlConnection(Servers.Postgres);
        return await connection.QuerySingleAsync<(long, long)>(
            $"select count(*), sum({PostgresParts.Count})::bigint from {_schema}.audit_event"
        );
    }

    // Returns the place of the last fact of the row: a row may hold several.
    private async Task<long> ChangeRowAfterAsync(long number)
    {
        await using var connection = new NpgsqlConnection(Servers.Postgres);
        return await connection.ExecuteScalarAsync<long>(
            $"update {_schema}.audit_event set endpoint = 'other' where number = {number + 1} returning number - 1 + {PostgresParts.Count}"
        );
    }

    private static string Places(long from, long to) => from == to ? $"fact {from} " : $"facts {from} to {to} ";

    private static async Task ExecuteAsync(string sql)
    {
        await using var connection = new NpgsqlConnection(Servers.Postgres);
        await connection.ExecuteAsync(sql);
    }
}
