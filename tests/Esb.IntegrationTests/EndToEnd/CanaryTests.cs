using Dapper;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>On the embedded default; the failure quotes the name of the file that is there already.</summary>
public sealed class EmbeddedCanaryTests : CanaryContract
{
    private protected override string Failing => """ "type": "file-outbound", "folder": "secrets", "fileName": "{header.x-secret}.txt", "ifExists": "fail" """;
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
            _schema = $"esb{sections.Split("\"schema\": \"esb")[1].Split('"')[0]}";
            return $$"""{{sections}} "connections": { "books": { "connection": "${env:ESB_POSTGRES}" } },""";
        }
    }

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    private protected override string Failing => """
        "type": "sql-outbound", "connection": "books", "execute": "select cast(@secret as integer)", "parameters": { "secret": { "header": "x-secret" } }
        """;

    private protected override string Exported => "invalid input syntax for type integer";

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    private protected override async Task<IReadOnlyList<string>> RowsAsync(CancellationToken cancellationToken)
    {
        await using var database = NpgsqlDataSource.Create(_servers.Postgres);
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        var rows = new List<string>();
        foreach (var table in (string[])["audit_event", "audit_field"])
            rows.AddRange(await connection.QueryAsync<string>($"select t::text from {_schema}.{table} t"));
        rows.AddRange(await connection.QueryAsync<string>($"select encode(body, 'escape') from {_schema}.audit_event where body is not null"));
        Assert.That(rows, Has.Count.GreaterThan(20));
        return rows;
    }
}
