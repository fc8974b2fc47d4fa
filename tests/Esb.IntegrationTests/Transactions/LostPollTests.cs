using Esb.Core.Messages;
using Esb.IntegrationTests.Sql;
using Esb.IntegrationTests.Topics;
using Npgsql;

namespace Esb.IntegrationTests.Transactions;

/// <summary>Rows that a sql-inbound endpoint publishes: marks and messages are one transaction, whenever its connection is lost.</summary>
[TestFixture, CancelAfter(60_000)]
internal sealed class LostPollTests
{
    private const int Rows = 5;

    private const string Sections = """
        "name": "${env:NAME}",
        "connections": { "shop": { "connection": "${env:SHOP}" }, "ledger": { "connection": "${env:LEDGER}" } },
        "topics": { "jobs": {} },
        "endpoints": {
          "taker": {
            "type": "sql-inbound", "connection": "shop", "publish": "jobs.new", "interval": "100ms", "singleInstance": false,
            "query": "select id from jobs where not taken order by id", "after": "update jobs set taken = true where id = @id"
          },
          "effects": {
            "type": "sql-outbound", "subscribe": ["jobs.#"], "connection": "ledger", "execute": "insert into effects values (@job, @message)",
            "parameters": { "job": { "jsonpath": "$.id" }, "message": { "message": "id" } }
          }
        }
        """;

    private Shop _shop = null!;
    private CutWire _wire = null!;
    private InProcessBus _bus = null!;

    [SetUp]
    public async Task StartBus()
    {
        _shop = await Shop.CreateAsync();
        await _shop.ExecuteAsync(
            "create table jobs (id int primary key, taken boolean not null default false); create table effects (job int, message uuid)"
        );
        _wire = CutWire.To(new NpgsqlConnectionStringBuilder(Servers.Postgres).Port);
        var connection = new NpgsqlConnectionStringBuilder(_shop.ConnectionString)
        {
            Port = _wire.Port,
            SslMode = SslMode.Disable,
            MaxAutoPrepare = 0,
        }.ConnectionString;
        _bus = await InProcessBus.StartAsync(
            Sections,
            new Dictionary<string, string>
            {
                ["SHOP"] = connection,
                ["LEDGER"] = _shop.ConnectionString,
                ["NAME"] = $"bus-{Guid.NewGuid():N}",
            },
            CancellationToken.None
        );
    }

    [TearDown]
    public async Task StopBus()
    {
        await _bus.DisposeAsync();
        await _wire.DisposeAsync();
        await _shop.DisposeAsync();
    }

    [Test, Property("Case", "SQL-16")]
    public async Task Rows_whose_commit_has_no_answer_are_published_once([Values] bool isCommitted, CancellationToken cancellationToken)
    {
        if (isCommitted)
            _wire.CutAfter("COMMIT", behind: "update jobs");
        else
            _wire.CutBefore("COMMIT", behind: "update jobs");

        await InsertAsync();

        await AssertPublishedOnceAsync(cancellationToken);
    }

    [Test, Property("Case", "SQL-14")]
    public async Task Rows_whose_messages_do_not_get_into_the_outbox_stay_unmarked_and_come_again(CancellationToken cancellationToken)
    {
        var held = _wire.HoldAt("insert into esb.transaction_outbox", behind: "update jobs", isDelivered: false);

        await InsertAsync();
        await held.WaitAsync(cancellationToken);
        var (unmarked, published) = (await UnmarkedAsync(cancellationToken), await PublishedAsync(cancellationToken));
        await _shop.ExecuteAsync(
            "select pg_terminate_backend(pid) from pg_locks where relation = 'jobs'::regclass and mode = 'RowExclusiveLock'"
        );

        Assert.That((unmarked, published.Count), Is.EqualTo((Rows, 0)));
        await AssertPublishedOnceAsync(cancellationToken);
    }

    private async Task AssertPublishedOnceAsync(CancellationToken cancellationToken)
    {
        await Eventually.HoldsAsync(
            async () => await UnmarkedAsync(cancellationToken) == 0 && (await PublishedAsync(cancellationToken)).Count >= Rows,
            cancellationToken
        );
        await _shop.ExecuteAsync($"insert into jobs values ({Rows + 1})"); // of another poll, behind the others in the outbox
        await Eventually.HoldsAsync(async () => (await PublishedAsync(cancellationToken)).Count > Rows, cancellationToken);

        Assert.That(_wire.Cuts, Is.EqualTo(1));
        Assert.That(
            await PublishedAsync(cancellationToken),
            Is.EquivalentTo(Enumerable.Range(1, Rows + 1).Select(id => MessageIds.FromForeign($"row\n{id}", "taker"))),
            "each once, under its id"
        );
    }

    private Task InsertAsync() => _shop.ExecuteAsync($"insert into jobs select generate_series(1, {Rows})");

    private async Task<long> UnmarkedAsync(CancellationToken cancellationToken) =>
        (await _shop.ReadAsync<long>("select count(*) from jobs where not taken", cancellationToken))[0];

    private Task<List<Guid>> PublishedAsync(CancellationToken cancellationToken) =>
        _shop.ReadAsync<Guid>("select message from effects", cancellationToken);
}
