using System.Diagnostics;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.IntegrationTests.Sql;
using Esb.IntegrationTests.Topics;
using Esb.Tests;

namespace Esb.IntegrationTests.Transactions;

/// <summary>The step <c>transaction</c> on a real PostgreSQL and topics in memory: its SQL and its publishes happen both or not at
/// all.</summary>
[TestFixture, CancelAfter(60_000)]
internal sealed class TransactionTests
{
    private const string Sections = """
        "name": "${env:NAME}",
        "connections": { "shop": { "connection": "${env:SHOP}" } },
        "topics": { "orders": { "key": { "header": "x-key" } } },
        "endpoints": {
          "insert": {
            "type": "sql-outbound", "connection": "shop", "poolSize": 20,
            "execute": "insert into placed (message_id, body) values (@id, @body)",
            "parameters": { "id": { "message": "id" }, "body": { "message": "body" } }
          },
          "insert-once": {
            "type": "sql-outbound", "connection": "shop", "poolSize": 20, "once": true,
            "execute": "insert into placed (message_id, body) values (@id, @body)",
            "parameters": { "id": { "message": "id" }, "body": { "message": "body" } }
          },
          "insert-wrong": { "type": "sql-outbound", "connection": "shop", "execute": "insert into placed (message_id, body) values (null, 'wrong')" },
          "eleven": { "type": "sql-outbound", "connection": "shop", "query": "select generate_series(1, 11) as number", "maxRows": 10 },
          "endless": { "type": "sql-outbound", "connection": "shop", "query": "select generate_series(1, 1000000000) as number", "maxRows": 10 },
          "count": { "type": "sql-outbound", "connection": "shop", "poolSize": 20, "query": "select count(*) as placed from placed" },
          "arrivals": {
            "type": "sql-outbound", "subscribe": ["orders.#"], "connection": "shop", 
            "execute": "insert into arrived (message_id, subject, key, header, body) values (@id, @subject, @key, @header, @body)",
            "parameters": { "id": { "message": "id" }, "subject": { "message": "subject" }, "key": { "message": "key" }, "header": { "header": "x-shop" }, "body": { "message": "body" } },
            "optional": ["key", "header"]
          }
        },
        "processes": {
          "place": [{ "transaction": { "connection": "shop", "steps": [{ "call": "insert" }, { "publish": "orders.placed" }] } }],
          "twice": [{ "transaction": { "connection": "shop", "steps": [{ "publish": "orders.first" }, { "publish": "orders.second" }] } }],
          "fail": [{ "transaction": { "connection": "shop", "steps": [{ "call": "insert" }, { "publish": "orders.placed" }, { "fail": { "reason": "on purpose", "code": "ESB-TEST" } }] } }],
          "catch": [{ "transaction": { "connection": "shop", "steps": [
            { "call": "insert" },
            { "try": { "steps": [{ "call": "insert-wrong" }], "catch": [{ "codes": ["ESB-SQL-*"], "steps": [{ "publish": "orders.wrong" }] }] } },
            { "publish": "orders.placed" } ] } }],
          "refuse-eleven": [{ "transaction": { "connection": "shop", "steps": [
            { "call": "insert" },
            { "try": { "steps": [{ "call": "eleven" }], "catch": [{ "codes": ["ESB-SQL-RESULT"], "steps": [{ "publish": "orders.refused" }] }] } },
            { "call": "insert" } ] } }],
          "refuse-endless": [{ "transaction": { "connection": "shop", "steps": [
            { "call": "insert" },
            { "try": { "steps": [{ "call": "endless" }], "catch": [{ "codes": ["ESB-SQL-RESULT"], "steps": [{ "publish": "orders.refused" }] }] } },
            { "call": "insert" } ] } }],
          "once": [{ "transaction": { "connection": "shop", "steps": [{ "call": "insert-once" }, { "call": "insert-once" }, { "publish": "orders.placed" }] } }],
          "read": [{ "transaction": { "connection": "shop", "steps": [{ "call": "insert" }, { "call": "count" }, { "publish": "orders.counted" }] } }]
        }
        """;

    private Shop _shop = null!;
    private InProcessBus _bus = null!;
    private string _name = null!;

    [SetUp]
    public async Task StartBus()
    {
        _shop = await Shop.CreateAsync();
        await _shop.ExecuteAsync(
            """
            create table placed (message_id uuid not null unique, body text not null);
            create table arrived (number bigint generated always as identity, message_id uuid not null, subject text, key text, header text, body text);
            """
        );
        _name = $"bus-{Guid.NewGuid():N}";
        _bus = await StartAsync();
    }

    [TearDown]
    public async Task StopBus()
    {
        await _bus.DisposeAsync();
        await _shop.DisposeAsync();
    }

    [Test]
    public async Task Effect_and_publish_happen_both(CancellationToken cancellationToken)
    {
        var message = Some.Message("an order") with { Headers = MessageHeaders.From([new("x-shop", "Käse & Söhne"), new("x-key", "k")]) };

        await _bus.RunAsync("place", message, cancellationToken);

        await ArrivedAsync(1, cancellationToken);
        Assert.That(
            await _shop.ReadAsync<string>(
                "select concat_ws('|', a.message_id, subject, header, a.body) from arrived a join placed using (message_id)",
                cancellationToken
            ),
            Is.EqualTo([$"{message.Id}|orders.placed|Käse & Söhne|an order"])
        );
        await Eventually.HoldsAsync(
            async () => (await _bus.FindAsync(AuditKind.Published, cancellationToken)).Count > 0,
            cancellationToken
        ); // what is confirmed may arrive before that is recorded
        Assert.That((await _bus.FindAsync(AuditKind.Published, cancellationToken)).Single().MessageId, Is.EqualTo(message.Id));
        await EmptyAsync(cancellationToken);
    }

    [Test]
    public async Task Failure_undoes_both(CancellationToken cancellationToken)
    {
        var failure = Assert.ThrowsAsync<EsbException>(() => _bus.RunAsync("fail", Some.Message(), cancellationToken))!;

        Assert.That(failure.Code, Is.EqualTo("ESB-TEST"));
        await _bus.RunAsync("place", Some.Message("later"), cancellationToken);
        await ArrivedAsync(1, cancellationToken);
        Assert.That(
            await _shop.ReadAsync<string>("select body from arrived union all select body from placed", cancellationToken),
            Is.EqualTo(["later", "later"])
        );
    }

    [Test]
    public async Task Failure_that_a_step_inside_catches_undoes_only_its_call(CancellationToken cancellationToken)
    {
        var message = Some.Message("an order");

        await _bus.RunAsync("catch", message, cancellationToken);

        await ArrivedAsync(2, cancellationToken);
        Assert.That(
            await _shop.ReadAsync<string>("select subject from arrived order by subject", cancellationToken),
            Is.EqualTo(["orders.placed", "orders.wrong"])
        );
        Assert.That(await _shop.ReadAsync<Guid>("select message_id from placed", cancellationToken), Is.EqualTo([message.Id]));
    }

    // The database may be done with the query, or have an hour to go, when its answer turns out to be too large.
    [TestCase("refuse-eleven"), TestCase("refuse-endless")]
    public async Task Answer_that_is_refused_and_caught_undoes_nothing_else(string process, CancellationToken cancellationToken)
    {
        var message = Some.Message("an order");

        await _bus.RunAsync(process, message, cancellationToken);

        await ArrivedAsync(1, cancellationToken);
        Assert.That(await _shop.ReadAsync<string>("select subject from arrived", cancellationToken), Is.EqualTo(["orders.refused"]));
        Assert.That(
            await _shop.ReadAsync<Guid>("select message_id from placed", cancellationToken),
            Has.Count.EqualTo(2).And.Contain(message.Id)
        );
    }

    [Test]
    public async Task Repetition_publishes_under_the_same_ids(CancellationToken cancellationToken)
    {
        var message = Some.Message();

        await _bus.RunAsync("twice", message, cancellationToken);
        await _bus.RunAsync("twice", message, cancellationToken);

        await ArrivedAsync(4, cancellationToken);
        var ids = await _shop.ReadAsync<Guid>(
            "select message_id from arrived group by message_id having count(*) = 2 order by min(subject)",
            cancellationToken
        );
        Assert.That(ids, Has.Count.EqualTo(2));
        Assert.That(ids[0], Is.EqualTo(message.Id), "the first publish keeps the id");
    }

    // The second call is a call of its own, with an id of its own.
    [Test]
    public async Task Call_of_an_endpoint_with_once_has_its_effect_once_in_repeated_transactions(CancellationToken cancellationToken)
    {
        var message = Some.Message("an order");

        await _bus.RunAsync("once", message, cancellationToken);
        await _bus.RunAsync("once", message, cancellationToken);

        await ArrivedAsync(2, cancellationToken);
        Assert.That(
            await _shop.ReadAsync<Guid>("select message_id from placed", cancellationToken),
            Has.Count.EqualTo(2).And.Contain(message.Id)
        );
        var flagged = await _bus.FindAsync(AuditKind.Duplicate, cancellationToken);
        Assert.That(
            flagged.Select(fact => (fact.Endpoint, fact.Code)),
            Is.EqualTo(Enumerable.Repeat(("insert-once", "ESB-SQL-DUPLICATE"), 2))
        );
    }

    [Test]
    public async Task Query_inside_sees_what_the_transaction_did(CancellationToken cancellationToken)
    {
        await _bus.RunAsync("read", Some.Message(), cancellationToken);

        await ArrivedAsync(1, cancellationToken);
        Assert.That(await _shop.ReadAsync<string>("select body from arrived", cancellationToken), Is.EqualTo(["""[{"placed":1}]"""]));
    }

    [Test]
    public async Task Messages_of_a_key_arrive_in_the_order_of_their_commits(CancellationToken cancellationToken)
    {
        const int keys = 8;
        const int each = 60;
        await Task.WhenAll(
            Enumerable
                .Range(0, keys)
                .Select(async key =>
                {
                    for (var number = 0; number < each; number++)
                        await _bus.RunAsync(
                            "place",
                            Some.Message($"{number}") with
                            {
                                Headers = MessageHeaders.Empty.With("x-key", $"{key}"),
                            },
                            cancellationToken
                        );
                })
        );

        await ArrivedAsync(keys * each, cancellationToken);
        for (var key = 0; key < keys; key++)
            Assert.That(
                await _shop.ReadAsync<string>($"select body from arrived where key = '{key}' order by number", cancellationToken),
                Is.EqualTo(Enumerable.Range(0, each).Select(number => $"{number}"))
            );
    }

    // A host that died between commit and publish has left this behind.
    [Test, Category("Thorough")]
    public async Task Message_that_another_host_left_behind_is_published(CancellationToken cancellationToken)
    {
        await _bus.DisposeAsync();
        var settings = new Dictionary<string, string> { ["SHOP"] = _shop.ConnectionString, ["NAME"] = _name };
        var silent = await InProcessBus.StartAsync(Sections, settings, cancellationToken);
        await silent.StopAsync(); // its dispatcher
        await silent.RunAsync("place", Some.Message("left behind"), cancellationToken);
        await silent.DisposeAsync();

        _bus = await StartAsync();

        await ArrivedAsync(1, cancellationToken);
        await EmptyAsync(cancellationToken);
    }

    // In memory a confirmed message dies with the process, so the outbox keeps it for longer.
    [Test]
    public async Task Message_stays_in_the_outbox_until_its_subscribers_have_settled_it(CancellationToken cancellationToken)
    {
        await using (await _shop.LockAsync("arrived", cancellationToken))
        {
            await _bus.RunAsync("place", Some.Message(), cancellationToken);
            await Eventually.HoldsAsync(
                async () => (await _bus.FindAsync(AuditKind.Published, cancellationToken)).Count == 1,
                cancellationToken
            );
            await Task.Delay(TimeSpan.FromSeconds(1.5), cancellationToken); // longer than it takes to look again
            Assert.That(
                await _shop.ReadAsync<long>($"select count(*) from esb.transaction_outbox where bus = '{_name}'", cancellationToken),
                Is.EqualTo([1L])
            );
        }

        await EmptyAsync(cancellationToken);
        Assert.That(await _bus.FindAsync(AuditKind.Published, cancellationToken), Has.Count.EqualTo(1), "published once");
        Assert.That(await _shop.ReadAsync<long>("select count(*) from arrived", cancellationToken), Is.EqualTo([1L]));
    }

    [Test]
    public async Task Row_that_cannot_be_read_stops_its_lane_only_until_it_is_gone(CancellationToken cancellationToken)
    {
        const short lane = 3;
        await _bus.RunAsync("place", Some.Message(), cancellationToken); // so that the table is there
        await _shop.ExecuteAsync(
            $"insert into esb.transaction_outbox (bus, lane, message_id, subject, envelope, body) values ('{_name}', {lane}, "
                + $"gen_random_uuid(), 'orders.placed', '{{}}', '')"
        );
        await Eventually.HoldsAsync(() => _bus.Outboxes.Single().Obstacle?.Contains("JsonException") == true, cancellationToken);

        await _shop.ExecuteAsync($"delete from esb.transaction_outbox where bus = '{_name}' and envelope = '{{}}'");
        await _bus.RunAsync("place", Some.Message() with { Id = Guid.Parse("018f0000-0000-7000-8000-000000000003") }, cancellationToken);

        await ArrivedAsync(2, cancellationToken);
        await Eventually.HoldsAsync(() => _bus.Outboxes.Single().Obstacle is null, cancellationToken);
    }

    [Test, Category("Thorough")]
    public async Task Outbox_of_a_bus_of_another_name_is_left_alone(CancellationToken cancellationToken)
    {
        await using var other = await InProcessBus.StartAsync(
            Sections,
            new Dictionary<string, string> { ["SHOP"] = _shop.ConnectionString, ["NAME"] = $"o-{_name}" },
            cancellationToken
        );
        await _bus.StopAsync();
        await _bus.RunAsync("place", Some.Message(), cancellationToken);
        await other.RunAsync("place", Some.Message(), cancellationToken);

        await ArrivedAsync(1, cancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(2), cancellationToken); // longer than it takes to look
        Assert.That(await _shop.ReadAsync<long>("select count(*) from arrived", cancellationToken), Is.EqualTo([1L]));
        Assert.That(
            await _shop.ReadAsync<long>($"select count(*) from esb.transaction_outbox where bus = '{_name}'", cancellationToken),
            Is.EqualTo([1L])
        );
    }

    [Test]
    public async Task Trace_goes_on_behind_the_outbox(CancellationToken cancellationToken)
    {
        using var activity = new Activity("caller").SetIdFormat(ActivityIdFormat.W3C).Start();

        await _bus.RunAsync("place", Some.Message(), cancellationToken);

        await ArrivedAsync(1, cancellationToken);
        await Eventually.HoldsAsync(
            async () => (await _bus.FindAsync(AuditKind.Delivered, cancellationToken)).Count == 1,
            cancellationToken
        );
        Assert.That(
            (await _bus.FindAsync(AuditKind.Published, cancellationToken)).Single().TraceId,
            Is.EqualTo(activity.TraceId.ToHexString())
        );
    }

    private Task<InProcessBus> StartAsync() =>
        InProcessBus.StartAsync(
            Sections,
            new Dictionary<string, string> { ["SHOP"] = _shop.ConnectionString, ["NAME"] = _name },
            CancellationToken.None
        );

    private Task ArrivedAsync(long count, CancellationToken cancellationToken) =>
        Eventually.HoldsAsync(
            async () => (await _shop.ReadAsync<long>("select count(*) from arrived", cancellationToken))[0] >= count,
            cancellationToken
        );

    private Task EmptyAsync(CancellationToken cancellationToken) =>
        Eventually.HoldsAsync(
            async () =>
                (await _shop.ReadAsync<long>($"select count(*) from esb.transaction_outbox where bus = '{_name}'", cancellationToken))[0]
                == 0,
            cancellationToken
        );
}
