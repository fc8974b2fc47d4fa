using Dapper;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Large bodies in PostgreSQL; one of two endpoints parks them.</summary>
public sealed class PostgresLargeBodyTests : LargeBodyContract
{
    private ServerSections _servers = null!;

    private protected override string Sections => _servers.Next();

    private protected override string Endpoints =>
        $$"""
        , "ledger": { "type": "http-outbound", "subscribe": ["orders.#"], "url": "{{new Uri(
            Shop.Url,
            "/ledger"
        )}}", "delivery": "ordered-by-key", "lanes": 2 }
        """;

    private protected override int Copies => 2;

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.ShareAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    private protected override Task<int> CountBodiesAsync() => QueryAsync($"select count(*) from {_servers.Name}.claim_check");

    private protected override Task RemoveBodiesAsync() =>
        QueryAsync($"with gone as (delete from {_servers.Name}.claim_check returning id) select count(*) from gone");

    private protected override Task WaitUntilParkedAsync(CancellationToken cancellationToken) =>
        Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/parked?endpoint=ledger", token)).Count == 1,
            TimeSpan.FromSeconds(30),
            "to park the order",
            cancellationToken
        );

    private protected override async Task ReleaseAsync(CancellationToken cancellationToken)
    {
        var (exitCode, _, error) = await RunAsync(cancellationToken, "parked", "release", "ledger", "c-1");
        Assert.That(exitCode, Is.Zero, error);
    }

    private async Task<int> QueryAsync(string sql)
    {
        await using var connection = new NpgsqlConnection(_servers.Postgres);
        return await connection.ExecuteScalarAsync<int>(sql);
    }
}

/// <summary>Large bodies in a folder that hosts may share.</summary>
[Category("Thorough")]
public sealed class FolderLargeBodyTests : LargeBodyContract
{
    private readonly DirectoryInfo _claims = Directory.CreateTempSubdirectory("esb-claims-");
    private ServerSections _servers = null!;

    private protected override string Sections => _servers.NextWithFiles(_claims.FullName);

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.ShareAsync();

    [OneTimeTearDown]
    public async Task StopServers()
    {
        await _servers.DisposeAsync();
        _claims.Delete(recursive: true);
    }

    private protected override Task<int> CountBodiesAsync() => Task.FromResult(Bodies().Length);

    private protected override Task RemoveBodiesAsync()
    {
        foreach (var body in Bodies())
            body.Delete();
        return Task.CompletedTask;
    }

    private FileInfo[] Bodies() => _claims.GetFiles("*.body", SearchOption.AllDirectories);
}
