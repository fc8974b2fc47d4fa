using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.IntegrationTests.Storage;
using Esb.IntegrationTests.Topics;
using Esb.Tests;
using Npgsql;

namespace Esb.IntegrationTests.Transactions;

/// <summary>A database that crashes during a commit, and gives the number of the transaction to another one when it is back.</summary>
/// <remarks>Transaction ids of which nothing had reached the disk are assigned again after a crash, so that <c>pg_xact_status</c> tells of
/// a stranger.</remarks>
[TestFixture, CancelAfter(120_000), Property("Case", "SQL-16")]
internal sealed class CrashedCommitTests
{
    private const string Sections = """
        "name": "${env:NAME}",
        "connections": { "shop": { "connection": "${env:SHOP}" } },
        "topics": { "orders": {} },
        "endpoints": {
          "place": { "type": "sql-outbound", "connection": "shop", "execute": "insert into placed (message_id) values (@id)", "parameters": { "id": { "message": "id" } } }
        },
        "processes": { "place": [{ "transaction": { "connection": "shop", "steps": [{ "call": "place" }] } }] }
        """;

    private PrivatePostgres _postgres = null!;
    private CutWire _wire = null!;
    private InProcessBus _bus = null!;

    private string Direct => new NpgsqlConnectionStringBuilder(_postgres.Connection) { Pooling = false }.ConnectionString;

    [SetUp]
    public async Task StartBus()
    {
        _postgres = await PrivatePostgres.StartAsync();
        await ExecuteAsync("create table placed (message_id uuid not null)");
        await ExecuteAsync("alter system set wal_writer_delay = '10s'"); // so that a commit is what brings a transaction to the disk
        await ExecuteAsync("select pg_reload_conf()");
        _wire = CutWire.To(new NpgsqlConnectionStringBuilder(_postgres.Connection).Port);
        var connection = new NpgsqlConnectionStringBuilder(_postgres.Connection)
        {
            Port = _wire.Port,
            SslMode = SslMode.Disable,
            MaxAutoPrepare = 0,
        }.ConnectionString;
        _bus = await InProcessBus.StartAsync(
            Sections,
            new Dictionary<string, string> { ["SHOP"] = connection, ["NAME"] = $"bus-{Guid.NewGuid():N}" },
            CancellationToken.None
        );
        await _bus.RunAsync("place", Some.Message(), CancellationToken.None); // so that the tables are there
    }

    [TearDown]
    public async Task StopBus()
    {
        await _bus.DisposeAsync();
        await _wire.DisposeAsync();
        await _postgres.DisposeAsync();
    }

    [Test]
    public async Task Transaction_whose_commit_did_not_come_through_fails_whoever_has_its_number_now(CancellationToken cancellationToken)
    {
        var message = Some.Message();

        var running = await CrashAsync(message, isCommitted: false, cancellationToken);

        var failure = Assert.ThrowsAsync<EndpointException>(() => running)!;
        Assert.That((failure.Code, failure.IsTransient), Is.EqualTo(("ESB-SQL-CONNECTION", true)));
        Assert.That(await CountAsync(message.Id, cancellationToken), Is.Zero);
    }

    [Test]
    public async Task Transaction_whose_commit_came_through_succeeds(CancellationToken cancellationToken)
    {
        var message = Some.Message();

        await await CrashAsync(message, isCommitted: true, cancellationToken);

        Assert.That(await CountAsync(message.Id, cancellationToken), Is.EqualTo(1));
    }

    private async Task<Task> CrashAsync(EsbMessage message, bool isCommitted, CancellationToken cancellationToken)
    {
        var held = _wire.HoldAt("COMMIT", behind: "insert into placed", isDelivered: isCommitted);
        var running = _bus.RunAsync("place", message, cancellationToken);
        await held.WaitAsync(cancellationToken);
        await _postgres.KillAsync();
        await _postgres.StartAgainAsync();
        for (var number = 0; number < 50; number++)
            await ExecuteAsync("insert into placed (message_id) values (gen_random_uuid())");
        return running;
    }

    private async Task ExecuteAsync(string sql)
    {
        await using var source = NpgsqlDataSource.Create(Direct);
        await using var command = source.CreateCommand(sql);
        await command.ExecuteNonQueryAsync();
    }

    private async Task<long> CountAsync(Guid messageId, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(Direct);
        await using var command = source.CreateCommand($"select count(*) from placed where message_id = '{messageId}'");
        return (long)(await command.ExecuteScalarAsync(cancellationToken))!;
    }
}
