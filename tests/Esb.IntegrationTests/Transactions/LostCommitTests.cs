using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.IntegrationTests.Sql;
using Esb.IntegrationTests.Topics;
using Esb.Tests;
using Npgsql;

namespace Esb.IntegrationTests.Transactions;

/// <summary>A connection that is lost during the commit: what became of it is found out before anything is repeated.</summary>
[TestFixture, CancelAfter(60_000), Property("Case", "SQL-16")]
internal sealed class LostCommitTests
{
    private const string Sections = """
        "name": "${env:NAME}",
        "connections": { "shop": { "connection": "${env:SHOP}" } },
        "topics": { "orders": {} },
        "endpoints": {
          "orders-db": {
            "type": "sql-outbound", "subscribe": ["orders.#"], "connection": "shop", "once": true,
            "execute": "insert into effects (message_id) values (@id)", "parameters": { "id": { "message": "id" } }
          },
          "place": { "type": "sql-outbound", "connection": "shop", "execute": "insert into placed (message_id) values (@id)", "parameters": { "id": { "message": "id" } } }
        },
        "processes": { "place": [{ "transaction": { "connection": "shop", "steps": [{ "call": "place" }, { "publish": "orders.placed" }] } }] }
        """;

    private Shop _shop = null!;
    private CutWire _wire = null!;
    private InProcessBus _bus = null!;

    [SetUp]
    public async Task StartBus()
    {
        _shop = await Shop.CreateAsync();
        await _shop.ExecuteAsync("create table effects (message_id uuid not null); create table placed (message_id uuid not null)");
        _wire = CutWire.To(new NpgsqlConnectionStringBuilder(Servers.Postgres).Port);
        var connection = new NpgsqlConnectionStringBuilder(_shop.ConnectionString)
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
    }

    [TearDown]
    public async Task StopBus()
    {
        await _bus.DisposeAsync();
        await _wire.DisposeAsync();
        await _shop.DisposeAsync();
    }

    [Test]
    [TestCase(true)]
    [TestCase(false)]
    public async Task Effect_with_once_happens_once_and_counts_as_delivered(bool isCommitted, CancellationToken cancellationToken)
    {
        if (isCommitted)
            _wire.CutAfter("insert into effects", behind: "claim_message");
        else
            _wire.CutBefore("insert into effects", behind: "claim_message");

        await _bus.PublishAsync(Some.Message() with { Subject = "orders.new" }, cancellationToken);
        await Eventually.HoldsAsync(() => _bus.Endpoints.Single(endpoint => endpoint.Name == "orders-db").Messages == 1, cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(_wire.Cuts, Is.EqualTo(1));
            Assert.That(await _shop.ReadAsync<Guid>("select message_id from effects", cancellationToken), Has.Count.EqualTo(1));
            Assert.That(await _bus.FindAsync(AuditKind.Delivered, cancellationToken), Has.Count.EqualTo(1));
            Assert.That(await _bus.FindAsync(AuditKind.Duplicate, cancellationToken), Is.Empty, "the attempt itself has applied it");
        }
    }

    [Test]
    public async Task Transaction_that_was_committed_all_the_same_succeeds(CancellationToken cancellationToken)
    {
        var message = Some.Message();
        _wire.CutAfter("COMMIT", behind: "insert into placed");

        await _bus.RunAsync("place", message, cancellationToken);

        await Eventually.HoldsAsync(
            async () => (await _shop.ReadAsync<Guid>("select message_id from effects", cancellationToken)).Count == 1,
            cancellationToken
        );
        Assert.That(_wire.Cuts, Is.EqualTo(1));
        Assert.That(await _shop.ReadAsync<Guid>("select message_id from placed", cancellationToken), Is.EqualTo([message.Id]));
    }

    [Test]
    public async Task Transaction_that_was_not_committed_fails_as_a_whole(CancellationToken cancellationToken)
    {
        _wire.CutBefore("COMMIT", behind: "insert into placed");

        var failure = Assert.ThrowsAsync<EndpointException>(() => _bus.RunAsync("place", Some.Message(), cancellationToken))!;

        var later = Some.Message();
        await _bus.RunAsync("place", later, cancellationToken);
        await Eventually.HoldsAsync(
            async () => (await _shop.ReadAsync<Guid>("select message_id from effects", cancellationToken)).Count == 1,
            cancellationToken
        );
        Assert.That((failure.Code, failure.IsTransient, _wire.Cuts), Is.EqualTo(("ESB-SQL-CONNECTION", true, 1)));
        Assert.That(
            await _shop.ReadAsync<Guid>("select message_id from placed union all select message_id from effects", cancellationToken),
            Is.EqualTo([later.Id, later.Id])
        );
    }
}
