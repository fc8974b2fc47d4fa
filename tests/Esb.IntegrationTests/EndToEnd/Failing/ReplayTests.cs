using Dapper;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>Replay on the embedded default.</summary>
[Category("Thorough")]
public sealed class EmbeddedReplayTests : ReplayContract
{
    private protected override string Sections => "";
}

/// <summary>Replay on RabbitMQ and PostgreSQL.</summary>
public sealed class ServerReplayTests : ReplayContract
{
    private ServerSections _servers = null!;

    private protected override string Sections =>
        $$"""
            {{_servers.Next()}}
            "connections": { "books": { "connection": "${env:ESB_POSTGRES}" } },
            """;

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    private protected override string Endpoints =>
        """
            , "ledger": { "type": "sql-outbound", "subscribe": ["orders.#"], "connection": "books", "once": true, "poolSize": 4, "processingThreads": 4,
                "execute": "insert into ledger (message_id) values (@id)", "parameters": { "id": { "message": "id" } } }
            """;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.ShareAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();

    [SetUp]
    public Task RemoveLedger() => ExecuteAsync("drop table if exists ledger");

    [Test, Category("Thorough"), Property("Case", "T-RPL-2")]
    public async Task Replay_of_what_was_applied_already_has_no_effect_and_is_flagged(CancellationToken cancellationToken)
    {
        var ids = await OrderAsync(50, cancellationToken); // without its table the ledger fails for good
        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/dead-letters?endpoint=ledger&limit=1000", token)).Count == 50,
            TimeSpan.FromSeconds(60),
            "to keep 50 dead letters",
            cancellationToken
        );
        await ExecuteAsync("create table ledger (number bigint generated always as identity, message_id uuid not null)");

        await ReplayAsync("""{ "filter": { "endpoint": "ledger" } }""", cancellationToken);
        await CountAsync("delivered", 50, cancellationToken);
        await ReplayAsync("""{ "filter": { "endpoint": "ledger", "state": "replayed" } }""", cancellationToken);
        await CountAsync("duplicate", 50, cancellationToken);

        await using var connection = new NpgsqlConnection(_servers.Postgres);
        Assert.That(await connection.QueryAsync<Guid>("select message_id from ledger"), Is.EquivalentTo(ids), "each has its effect once");
    }

    private async Task ReplayAsync(string body, CancellationToken cancellationToken)
    {
        var job = await PostAsync("/api/replays", body, cancellationToken);
        var path = $"/api/replays/{job.GetProperty("id").GetString()}";
        await Host.WaitAsync(
            async token => StateOf(await Host.AskAsync(path, token)) == "completed",
            TimeSpan.FromSeconds(30),
            "to replay",
            cancellationToken
        );
    }

    private Task CountAsync(string kind, int count, CancellationToken cancellationToken) =>
        Host.WaitAsync(
            async token => Items(await Host.AskAsync($"/api/messages?endpoint=ledger&kind={kind}&limit=1000", token)).Count == count,
            TimeSpan.FromSeconds(30),
            $"to record {count} {kind} messages",
            cancellationToken
        );

    private async Task ExecuteAsync(string sql)
    {
        await using var connection = new NpgsqlConnection(_servers.Postgres);
        await connection.ExecuteAsync(sql);
    }
}
