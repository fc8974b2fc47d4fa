using System.IO.Compression;
using System.Net;
using System.Text;
using Dapper;
using Esb.Core.Audit;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Esb.Storage.Postgres.Audit;
using Microsoft.Data.Sqlite;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Recording;

/// <summary>On the embedded default; the failure quotes the name of the file that is there already.</summary>
[Category("Thorough")]
public sealed class EmbeddedCanaryTests : CanaryContract
{
    private protected override string Failing =>
        """ "type": "file-outbound", "folder": "secrets", "fileName": "{header.x-secret}.txt", "ifExists": "fail" """;

    private protected override async Task<IReadOnlyList<string>> RowsAsync(CancellationToken cancellationToken)
    {
        await using var connection = new SqliteConnection($"Data Source={Path.Combine(Data, "store.db")};Mode=ReadOnly;Pooling=False");
        var tables = (await connection.QueryAsync<string>("select name from sqlite_master where type = 'table'"))
            .Except(OfMessages)
            .ToList();
        var rows = new List<string>();
        foreach (var table in tables)
        {
            foreach (IDictionary<string, object?> row in await connection.QueryAsync($"select * from {table}"))
                rows.Add(string.Join(' ', row.Values.Select(value => value is byte[] bytes ? Encoding.Latin1.GetString(bytes) : value)));
        }

        Assert.That(tables, Is.SupersetOf(new[] { "activity_item", "idempotency_key", "replay_job" }));
        return rows;
    }
}

/// <summary>On RabbitMQ and PostgreSQL; the database quotes the value that is no number.</summary>
public sealed class ServerCanaryTests : CanaryContract
{
    private ServerSections _servers = null!;
    private string _schema = "";

    private protected override string Sections
    {
        get
        {
            var sections = _servers.Next();
            _schema = _servers.Name;
            return $$"""{{sections}} "connections": { "books": { "connection": "${env:ESB_POSTGRES}" } },""";
        }
    }

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    private protected override string Failing =>
        """
            "type": "sql-outbound", "connection": "books", "execute": "select cast(@secret as integer)", "parameters": { "secret": { "header": "x-secret" } }
            """;

    private protected override string Exported => "invalid input syntax for type integer";

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    // So that the database refuses some facts, which then are put aside.
    private protected override async Task PrepareAsync()
    {
        await using var database = NpgsqlDataSource.Create(_servers.Postgres);
        await using var connection = await database.OpenConnectionAsync();
        await connection.ExecuteAsync(
            $"alter table {_schema}.audit_event add constraint none_of_broken check (endpoint is distinct from 'broken')"
        );
    }

    private protected override async Task<IReadOnlyList<string>> SpooledAsync(
        Func<Task<HttpStatusCode>> send,
        CancellationToken cancellationToken
    )
    {
        var spool = Path.Combine(Data, "spool");
        await Host.WaitAsync(
            _ => Task.FromResult(RecordedBytes.ReadFacts(Path.Combine(spool, "refused")).Count > 0),
            TimeSpan.FromSeconds(30),
            "to put aside what the database refuses",
            cancellationToken
        );
        var known = RecordedBytes.ReadFacts(spool).Select(fact => fact.Id).ToHashSet();
        await _servers.StopPostgresAsync();
        Assert.That(await send(), Is.EqualTo(HttpStatusCode.Accepted));
        IReadOnlyList<AuditFact> facts = [];
        await Host.WaitAsync(
            _ =>
                Task.FromResult(
                    (facts = [.. RecordedBytes.ReadFacts(spool).Where(fact => !known.Contains(fact.Id))]).Any(fact =>
                        fact.Kind == AuditKind.Delivered
                    )
                ),
            TimeSpan.FromSeconds(30),
            "to go on without its database",
            cancellationToken
        );
        await _servers.StartPostgresAsync();
        await Host.WaitAsync(Host.IsReadyAsync, TimeSpan.FromSeconds(60), "to be ready again", cancellationToken);
        Assert.That(facts, Has.Some.Matches<AuditFact>(fact => fact.Body is not null));
        return [.. facts.Select(RecordedBytes.TextOf)];
    }

    private protected override async Task<IReadOnlyList<string>> RowsAsync(CancellationToken cancellationToken)
    {
        await using var database = NpgsqlDataSource.Create(_servers.Postgres);
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        var tables = (
            await connection.QueryAsync<string>(
                "select table_name from information_schema.tables where table_schema = @schema",
                new { schema = _schema }
            )
        )
            .Except(OfMessages)
            .ToList();
        var rows = new List<string>();
        foreach (var table in tables)
            rows.AddRange(await connection.QueryAsync<string>($"select t::text from {_schema}.{table} t"));
        var recorded = (
            await connection.QueryAsync<PostgresAuditRow>(
                $"select {PostgresAuditQuery.Columns}, {PostgresAuditQuery.Body} from {_schema}.audit_event e"
            )
        ).ToList();
        Assert.That(rows, Has.Count.GreaterThan(20));
        Assert.That(tables, Is.SupersetOf(new[] { "audit_event", "audit_field", "activity_item" }));
        Assert.That(recorded.Select(row => row.BodyEncoding), Has.Some.Not.Null, "some are packed");
        return
        [
            .. rows,
            .. recorded.SelectMany(row => row.ToFacts()).Select(RecordedBytes.TextOf),
            .. await ArchivedAsync(cancellationToken),
        ];
    }

    private async Task<IReadOnlyList<string>> ArchivedAsync(CancellationToken cancellationToken)
    {
        var tomorrow = $"{TimeProvider.System.GetUtcNow().AddDays(1):yyyy-MM-dd}";
        var (exitCode, _, error) = await CommandLine.RunAsync(
            Host.Folder,
            HostVariables,
            cancellationToken,
            "audit",
            "archive",
            "--config",
            "esb.json",
            "--before",
            tomorrow,
            "--to",
            "archive"
        );
        Assert.That(exitCode, Is.Zero, error);
        var lines = new List<string>();
        foreach (var file in Directory.EnumerateFiles(Path.Combine(Host.Folder, "archive")))
        {
            await using var packed = new GZipStream(File.OpenRead(file), CompressionMode.Decompress);
            using var reader = new StreamReader(packed);
            while (await reader.ReadLineAsync(cancellationToken) is { } line)
                lines.Add(line);
        }

        Assert.That(lines, Has.Count.GreaterThan(20));
        return lines;
    }
}
