using System.Diagnostics;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.IntegrationTests.Sql;
using Esb.IntegrationTests.Topics;
using Esb.Tests;

namespace Esb.IntegrationTests.Transactions;

/// <summary>An endpoint with <c>once</c> on a real PostgreSQL: each message has its effect once, and what is not applied again is
/// recorded.</summary>
[TestFixture, CancelAfter(60_000)]
internal sealed class OnceTests
{
    private Shop _shop = null!;
    private InProcessBus _bus = null!;

    // An effect without any protection of its own: a second one would be a second row.
    private static string Sections(string endpoint = "") =>
        $$"""
            "connections": { "shop": { "connection": "${env:SHOP}" } },
            "topics": { "orders": {} },
            "endpoints": {
              "orders-db": {
                "type": "sql-outbound", "subscribe": ["orders.#"], "connection": "shop", "once": true, "poolSize": 8, "processingThreads": 8,
                "execute": "insert into effects (message_id, body) values (@id, @body)",
                "parameters": { "id": { "message": "id" }, "body": { "message": "body" } } {{endpoint}}
              }
            }
            """;

    [SetUp]
    public async Task StartBus()
    {
        _shop = await Shop.CreateAsync();
        await _shop.ExecuteAsync(
            "create table effects (number bigint generated always as identity, message_id uuid not null, body text not null)"
        );
        _bus = await InProcessBus.StartAsync(
            Sections(),
            new Dictionary<string, string> { ["SHOP"] = _shop.ConnectionString },
            CancellationToken.None
        );
    }

    [TearDown]
    public async Task StopBus()
    {
        await _bus.DisposeAsync();
        await _shop.DisposeAsync();
    }

    [Test, Category("Thorough"), Property("Case", "T-DUP-1")]
    public async Task Ten_thousand_messages_of_which_a_thousand_are_copies_have_nine_thousand_effects(CancellationToken cancellationToken)
    {
        const int unique = 9_000;
        const int copies = 1_000;
        var messages = Enumerable.Range(0, unique).Select(number => Order($"{number}")).ToList();
        var random = new Random(4);

        // Half of the copies follow at once, so that both are under way together; the other half come from anywhere before.
        for (var i = 0; i < unique; i++)
        {
            await _bus.PublishAsync(messages[i], cancellationToken);
            if (i % (unique / copies) != 0)
                continue;
            await _bus.PublishAsync(messages[i % 2 == 0 ? i : random.Next(i)], cancellationToken);
        }

        await Eventually.HoldsAsync(() => _bus.Endpoints.Single().Messages == unique + copies, cancellationToken);
        var effects = await _shop.ReadAsync<Guid>("select message_id from effects", cancellationToken);
        var flagged = await _bus.FindAsync(AuditKind.Duplicate, cancellationToken);
        var delivered = await _bus.FindAsync(AuditKind.Delivered, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(effects, Has.Count.EqualTo(unique).And.Unique);
            Assert.That(flagged, Has.Count.EqualTo(copies));
            Assert.That(flagged.Select(fact => fact.Code), Is.All.EqualTo("ESB-SQL-DUPLICATE"));
            Assert.That(delivered, Has.Count.EqualTo(unique));
        }
    }

    [Test]
    public async Task Message_that_a_process_makes_anew_is_known_by_the_id_that_it_was_published_under(CancellationToken cancellationToken)
    {
        await _bus.DisposeAsync();
        var sections = $$"""{{Sections(""", "process": "make" """)}}, "processes": { "make": [{ "respond": { "body": "made" } }] }""";
        _bus = await InProcessBus.StartAsync(
            sections,
            new Dictionary<string, string> { ["SHOP"] = _shop.ConnectionString },
            cancellationToken
        );
        var message = Order("1");

        await _bus.PublishAsync(message, cancellationToken);
        await _bus.PublishAsync(message, cancellationToken);
        await Eventually.HoldsAsync(() => _bus.Endpoints.Single().Messages == 2, cancellationToken);

        Assert.That(
            await _shop.ReadAsync<string>("select message_id || ' ' || body from effects", cancellationToken),
            Is.EqualTo(new[] { $"{message.Id} made" })
        );
        Assert.That(
            (await _bus.FindAsync(AuditKind.Duplicate, cancellationToken)).Select(fact => (fact.MessageId, fact.Code)),
            Is.EqualTo(new[] { (message.Id, "ESB-SQL-DUPLICATE") })
        );
    }

    [Test]
    public async Task Endpoint_of_that_name_in_another_configuration_applies_the_message_once_itself(CancellationToken cancellationToken)
    {
        var message = Order("shared");
        await using var bank = await InProcessBus.StartAsync(
            $""" "name": "bank", {Sections()}""",
            new Dictionary<string, string> { ["SHOP"] = _shop.ConnectionString },
            cancellationToken
        );

        foreach (var bus in new[] { _bus, bank, _bus, bank })
            await bus.PublishAsync(message, cancellationToken);
        await Eventually.HoldsAsync(
            () => _bus.Endpoints.Single().Messages == 2 && bank.Endpoints.Single().Messages == 2,
            cancellationToken
        );

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                await _shop.ReadAsync<Guid>("select message_id from effects", cancellationToken),
                Is.EqualTo([message.Id, message.Id])
            );
            Assert.That(await _bus.FindAsync(AuditKind.Duplicate, cancellationToken), Has.Count.EqualTo(1));
            Assert.That(await bank.FindAsync(AuditKind.Duplicate, cancellationToken), Has.Count.EqualTo(1));
        }
    }

    [Test, Property("Case", "T-DUP-3")]
    public async Task Another_body_under_the_same_id_is_a_conflict_and_the_first_one_stays(CancellationToken cancellationToken)
    {
        var messages = Enumerable.Range(0, 100).Select(number => Order($"first {number}")).ToList();
        foreach (var message in messages)
            await _bus.PublishAsync(message, cancellationToken);
        await Eventually.HoldsAsync(() => _bus.Endpoints.Single().Messages == 100, cancellationToken);

        foreach (var message in messages)
            await _bus.PublishAsync(message with { Body = MessageBody.FromText("second") }, cancellationToken);
        await Eventually.HoldsAsync(() => _bus.Endpoints.Single().Messages == 200, cancellationToken);

        var flagged = await _bus.FindAsync(AuditKind.Duplicate, cancellationToken);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                await _shop.ReadAsync<string>("select body from effects order by number", cancellationToken),
                Is.EquivalentTo(messages.Select(message => message.Body.ReadText()))
            );
            Assert.That(flagged.Select(fact => fact.Code), Is.EqualTo(Enumerable.Repeat(DuplicateNotice.Conflict, 100)));
            Assert.That(flagged.Select(fact => fact.MessageId), Is.EquivalentTo(messages.Select(message => message.Id)));
        }
    }

    [Test, Property("Case", "T-DUP-4")]
    [TestCase("3 days", false)]
    [TestCase("7 days -1 minutes", false)]
    [TestCase("7 days 1 minutes", true)]
    public async Task Message_is_recognised_for_seven_days_of_the_database(
        string age,
        bool isAppliedAgain,
        CancellationToken cancellationToken
    )
    {
        var message = Order("a");
        await _bus.PublishAsync(message, cancellationToken);
        await Eventually.HoldsAsync(() => _bus.Endpoints.Single().Messages == 1, cancellationToken);
        await BusTablesProbe.AgeAsync(_shop, message.Id, age);

        await _bus.PublishAsync(message, cancellationToken);
        await Eventually.HoldsAsync(() => _bus.Endpoints.Single().Messages == 2, cancellationToken);

        Assert.That(
            await _shop.ReadAsync<string>("select body from effects", cancellationToken),
            Has.Count.EqualTo(isAppliedAgain ? 2 : 1)
        );
        Assert.That(await _bus.FindAsync(AuditKind.Duplicate, cancellationToken), Has.Count.EqualTo(isAppliedAgain ? 0 : 1));
    }

    [Test]
    public async Task Message_whose_effect_fails_is_not_recorded_as_applied(CancellationToken cancellationToken)
    {
        await _shop.ExecuteAsync("alter table effects add constraint short check (length(body) < 5)");
        var message = Order("too long");
        await _bus.PublishAsync(message, cancellationToken);
        await Eventually.HoldsAsync(
            async () => (await _bus.FindAsync(AuditKind.DeadLettered, cancellationToken)).Count == 1,
            cancellationToken
        );

        await _shop.ExecuteAsync("alter table effects drop constraint short");
        await _bus.PublishAsync(message, cancellationToken); // as a replay does
        await Eventually.HoldsAsync(() => _bus.Endpoints.Single().Messages == 1, cancellationToken);

        Assert.That(await _shop.ReadAsync<Guid>("select message_id from effects", cancellationToken), Is.EqualTo([message.Id]));
    }

    private static EsbMessage Order(string body) => Some.Message(body) with { Subject = "orders.new" };
}
