using System.Net;
using System.Text.Json;
using System.Text.RegularExpressions;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>Marks of queues, sessions, instances and the database: crossed and left again on a host with a broker and a database.</summary>
[CancelAfter(180_000)]
public sealed class MarkTests
{
    private ServerSections _servers = null!;
    private DirectoryInfo _folder = null!;
    private HostProcess _host = null!;
    private string _schema = "";

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    [SetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-marks-");
        var configuration = Path.Combine(_folder.FullName, "esb.json");
        var sections = _servers.Next();
        _schema = Regex.Match(sections, "\"schema\": \"([^\"]+)\"").Groups[1].Value;
        var health = "\"health\": { \"lockWait\": \"1s\", \"transaction\": \"2s\", \"databaseSize\": \"1MiB\" }";
        var store = sections.Replace("\"schema\"", $"{health}, \"schema\"");
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
        _host = await HostProcess.StartAsync(
            configuration,
            _folder.CreateSubdirectory("host").FullName,
            CancellationToken.None,
            _servers.Variables
        );
    }

    [TearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test]
    public async Task Queue_of_a_slow_endpoint_crosses_its_mark_and_comes_back(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 6; i++)
            await PostAsync("/orders", cancellationToken);
        await AwaitAsync("waiting", isCrossed: true, cancellationToken);
        var notices = await _host.AskAsync("/health/ready", cancellationToken);
        var metrics = await _host.ReadAsync("/metrics", cancellationToken);
        await EsbAsync(cancellationToken, "endpoints", "resume", "ledger");
        await AwaitAsync("waiting", isCrossed: false, cancellationToken);

        Assert.That(notices.GetRawText(), Does.Contain("ESB-MARK-CROSSED: waiting of endpoint ledger: 6 messages"));
        Assert.That(metrics, Does.Contain("esb_mark_crossed{").And.Contain("ledger"));
        Assert.That((await MarkAsync("waiting", cancellationToken)).GetProperty("crossings").GetInt64(), Is.EqualTo(1));
        Assert.That(_host.Output, Does.Contain("High mark crossed").And.Contain("Low mark reached"));
    }

    [Test]
    public async Task Endpoint_that_subscribes_to_alerts_of_marks_gets_that_of_a_mark_that_is_crossed(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 6; i++)
            await PostAsync("/orders", cancellationToken);
        var alarms = Path.Combine(_folder.FullName, "alarms");
        await _host.WaitAsync(_ => Task.FromResult(Alerts().Any()), TimeSpan.FromSeconds(60), "to deliver the alert", cancellationToken);

        var told = new[] { "kind", "name", "endpoint", "code", "reason" }.Select(name => Alerts().Single().GetProperty(name).GetString());
        Assert.That(
            told,
            Is.EqualTo(new[] { "mark", "marks", "ledger", "ESB-MARK-CROSSED", "waiting of endpoint ledger: 6 messages, marks 5 and 2" })
        );

        // That of the size of the database comes, too.
        IEnumerable<JsonElement> Alerts() =>
            Directory.Exists(alarms)
                ? Directory
                    .GetFiles(alarms, "*.json")
                    .Select(file => JsonDocument.Parse(File.ReadAllText(file)).RootElement)
                    .Where(alert => alert.TryGetProperty("endpoint", out var endpoint) && endpoint.GetString() == "ledger")
                : [];
    }

    [Test]
    public async Task Load_of_the_processor_is_a_metric(CancellationToken cancellationToken)
    {
        string? metrics = null;
        await _host.WaitAsync(
            async token =>
                (metrics = await _host.ReadAsync("/metrics", token)).Contains("\nesb_processor_usage ", StringComparison.Ordinal),
            TimeSpan.FromSeconds(30),
            "to have measured the processor twice",
            cancellationToken
        );

        Assert.That(metrics!.Contains("\nesb_processor_queue ", StringComparison.Ordinal), Is.EqualTo(OperatingSystem.IsLinux()));
    }

    [Test]
    public async Task Callers_are_turned_away_while_all_sessions_are_in_use(CancellationToken cancellationToken)
    {
        var sleeping = Enumerable.Range(0, 3).Select(_ => PostAsync("/sleep", cancellationToken)).ToList();
        await AwaitAsync("sessions", isCrossed: true, cancellationToken);
        var turnedAway = await PostAsync("/quick", cancellationToken);
        var slept = await Task.WhenAll(sleeping);
        await AwaitAsync("sessions", isCrossed: false, cancellationToken);

        Assert.That(turnedAway, Is.EqualTo(HttpStatusCode.ServiceUnavailable));
        Assert.That(slept, Has.All.EqualTo(HttpStatusCode.OK), "what was under way finishes");
        Assert.That(await PostAsync("/quick", cancellationToken), Is.EqualTo(HttpStatusCode.OK));
    }

    [Test, Category("Thorough")]
    public async Task Open_instances_cross_their_mark(CancellationToken cancellationToken)
    {
        for (var i = 0; i < 3; i++)
            await PostAsync("/jobs", cancellationToken);

        await AwaitAsync("instances", isCrossed: true, cancellationToken);
        Assert.That((await MarkAsync("instances", cancellationToken)).GetProperty("value").GetDouble(), Is.EqualTo(3));
    }

    [Test, Category("Thorough")]
    public async Task Waits_for_locks_and_long_transactions_in_the_database_are_told(CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(_servers.Postgres);
        await using (var command = source.CreateCommand("create table if not exists contended (id int)"))
            await command.ExecuteNonQueryAsync(cancellationToken);
        await using var holding = await source.OpenConnectionAsync(cancellationToken);
        await using var waiting = await source.OpenConnectionAsync(cancellationToken);
        await using var transaction = await holding.BeginTransactionAsync(cancellationToken);
        await ExecuteAsync(holding, "lock table contended", cancellationToken);
        var blocked = ExecuteAsync(waiting, "lock table contended", cancellationToken, "begin");
        await AwaitAsync("lockWait", isCrossed: true, cancellationToken);
        await AwaitAsync("transaction", isCrossed: true, cancellationToken);
        await transaction.RollbackAsync(cancellationToken);
        await blocked;
        await ExecuteAsync(waiting, "rollback", cancellationToken);
        await AwaitAsync("lockWait", isCrossed: false, cancellationToken);
        await AwaitAsync("transaction", isCrossed: false, cancellationToken);

        Assert.That((await MarkAsync("deadRows", cancellationToken)).GetProperty("isCrossed").GetBoolean(), Is.False);
    }

    [Test, Category("Thorough")]
    public async Task Dead_rows_and_the_size_of_the_database_are_told(CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(_servers.Postgres);
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        await ExecuteAsync(
            connection,
            $"create table {_schema}.heap with (autovacuum_enabled = false) as select generate_series(1, 60000) as id; "
                + $"delete from {_schema}.heap where id > 10000",
            cancellationToken
        );
        await AwaitAsync("deadRows", isCrossed: true, cancellationToken);
        await AwaitAsync("databaseSize", isCrossed: true, cancellationToken);
        var size = (await MarkAsync("databaseSize", cancellationToken)).GetProperty("value").GetDouble();
        await ExecuteAsync(connection, $"vacuum {_schema}.heap", cancellationToken);
        await AwaitAsync("deadRows", isCrossed: false, cancellationToken);
        await using var command = new NpgsqlCommand("select pg_database_size(current_database())", connection);
        var known = (long)(await command.ExecuteScalarAsync(cancellationToken))! / (double)(1 << 20);

        Assert.That(size, Is.EqualTo(known).Within(known / 2), "in MiB");
    }

    private static async Task ExecuteAsync(
        NpgsqlConnection connection,
        string sql,
        CancellationToken cancellationToken,
        string? before = null
    )
    {
        await using var command = new NpgsqlCommand(before is null ? sql : $"{before}; {sql}", connection);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    private Task AwaitAsync(string mark, bool isCrossed, CancellationToken cancellationToken) =>
        _host.WaitAsync(
            async token => (await FindAsync(mark, token))?.GetProperty("isCrossed").GetBoolean() == isCrossed,
            TimeSpan.FromSeconds(60),
            $"to {(isCrossed ? "cross" : "leave")} the mark {mark}",
            cancellationToken
        );

    private async Task<JsonElement> MarkAsync(string mark, CancellationToken cancellationToken) =>
        await FindAsync(mark, cancellationToken) ?? throw new AssertionException($"there is no mark {mark}");

    private async Task<JsonElement?> FindAsync(string mark, CancellationToken cancellationToken) =>
        (await _host.AskAsync("/api/marks", cancellationToken))
            .GetProperty("items")
            .EnumerateArray()
            .Where(item => item.GetProperty("name").GetString() == mark)
            .Select(item => (JsonElement?)item)
            .SingleOrDefault();

    private async Task<HttpStatusCode> PostAsync(string path, CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync(path, "{}", "application/json", cancellationToken);
        return response.StatusCode;
    }

    private Task<(int ExitCode, string Output, string Error)> EsbAsync(CancellationToken cancellationToken, params string[] arguments) =>
        CommandLine.RunAsync(_host.Folder, cancellationToken, [.. arguments, "--url", _host.Management.OriginalString]);
}
