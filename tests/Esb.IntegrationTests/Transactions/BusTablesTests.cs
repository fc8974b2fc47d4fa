using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Outbox;
using Esb.IntegrationTests.Sql;
using Esb.Tests;
using Npgsql;

namespace Esb.IntegrationTests.Transactions;

/// <summary>Our own tables in a database of the outside: who may make them, and how they stay small.</summary>
[TestFixture, CancelAfter(60_000)]
internal sealed class BusTablesTests
{
    private const string Insert = "insert into effects (message_id) values (@id)";

    private Shop _shop = null!;

    [SetUp]
    public async Task CreateShop()
    {
        _shop = await Shop.CreateAsync();
        await _shop.ExecuteAsync("create table effects (message_id text not null)");
    }

    [TearDown]
    public async Task DropShop() => await _shop.DisposeAsync();

    [Test]
    public async Task User_without_the_right_is_told_what_to_run_and_goes_on_once_it_was_run(CancellationToken cancellationToken)
    {
        await using var strict = await StrictDatabase.CreateAsync();
        var database = _shop.Open(connection: strict.UserConnection);
        await strict.ExecuteAsync("create table effects (message_id text not null); grant insert on effects to public");
        var endpoint = _shop.Endpoint(execute: Insert, database: database, change: config => config with { Once = true });
        var message = Some.Message("""{ "id": "a" }""");

        var failure = Assert.ThrowsAsync<EndpointException>(async () => await endpoint.SendAsync(message, cancellationToken))!;
        await strict.ExecuteAsync(failure.Message[failure.Message.IndexOf("create schema", StringComparison.Ordinal)..]);
        await endpoint.SendAsync(message, cancellationToken);

        Assert.That((failure.Code, failure.IsTransient, failure.IsOutage), Is.EqualTo(("ESB-SQL-INBOX", true, true)));
        Assert.That(failure.Message, Does.Contain($"create schema esb authorization \"{strict.User}\";"));
    }

    [Test]
    public async Task User_who_may_not_use_the_tables_of_another_is_told_what_to_run(CancellationToken cancellationToken)
    {
        await using var strict = await StrictDatabase.CreateAsync();
        await _shop.Open(connection: strict.OwnerConnection).Tables.EnsureReadyAsync(cancellationToken);
        var database = _shop.Open(connection: strict.UserConnection);

        var failure = Assert.ThrowsAsync<EndpointException>(() => database.Tables.EnsureReadyAsync(cancellationToken))!;
        await strict.ExecuteAsync(failure.Message[failure.Message.IndexOf("grant ", StringComparison.Ordinal)..]);
        await database.Tables.KeepAsync(cancellationToken);

        Assert.That(failure.Code, Is.EqualTo("ESB-SQL-INBOX"));
    }

    [Test]
    public async Task Database_whose_default_is_another_isolation_level_is_refused(CancellationToken cancellationToken)
    {
        var connection = new NpgsqlConnectionStringBuilder(_shop.ConnectionString)
        {
            Options = "-c default_transaction_isolation=serializable",
        }.ConnectionString;
        var endpoint = _shop.Endpoint(
            execute: Insert,
            database: _shop.Open(connection: connection),
            change: config => config with { Once = true }
        );

        var failure = Assert.ThrowsAsync<EndpointException>(async () =>
            await endpoint.SendAsync(Some.Message("""{ "id": "a" }"""), cancellationToken)
        )!;

        Assert.That((failure.Code, failure.IsOutage), Is.EqualTo(("ESB-SQL-INBOX", true)));
        Assert.That(await _shop.ReadAsync<string>("select message_id from effects", cancellationToken), Is.Empty);
    }

    [Test]
    public async Task Many_hosts_at_once_make_the_tables_once(CancellationToken cancellationToken)
    {
        await using var strict = await StrictDatabase.CreateAsync();
        var hosts = Enumerable.Range(0, 6).Select(_ => _shop.Open(maxPoolSize: 2, connection: strict.OwnerConnection)).ToList();

        await Task.WhenAll(hosts.Select(host => host.Tables.KeepAsync(cancellationToken)));

        Assert.That(hosts.Select(host => host.Tables.IsReady), Is.All.True);
    }

    [Test]
    public async Task Weeks_before_the_window_are_dropped_and_days_of_the_outbox_in_which_nothing_waits(CancellationToken cancellationToken)
    {
        await using var strict = await StrictDatabase.CreateAsync();
        var database = _shop.Open(connection: strict.OwnerConnection);
        await database.Tables.EnsureReadyAsync(cancellationToken);
        var present = await strict.ReadPartitionsAsync();
        foreach (var age in new[] { "7 days", "14 days", "21 days" })
            await strict.ExecuteAsync(BusTablesProbe.MakePartition("endpoint_inbox", age));
        foreach (var age in new[] { "3 days", "5 days" })
            await strict.ExecuteAsync(BusTablesProbe.MakePartition("transaction_outbox", age));
        await strict.ExecuteAsync(
            "insert into esb.transaction_outbox (created_at, bus, lane, message_id, subject, envelope, body) values (now() - "
                + "interval '5 days', 'a', 0, gen_random_uuid(), 's', '', '')"
        );

        await database.Tables.KeepAsync(cancellationToken);

        var today = DateOnly.FromDateTime(TimeProvider.System.GetUtcNow().UtcDateTime);
        var lastWeek = today.AddDays(-7 - (((int)today.DayOfWeek + 6) % 7));
        Assert.That(
            await strict.ReadPartitionsAsync(),
            Is.EquivalentTo(
                present.Append($"endpoint_inbox_{lastWeek:yyyyMMdd}").Append($"transaction_outbox_{today.AddDays(-5):yyyyMMdd}").Distinct()
            )
        );
    }

    [Test]
    public async Task Partition_that_is_missing_holds_messages_back_and_is_made(CancellationToken cancellationToken)
    {
        await using var strict = await StrictDatabase.CreateAsync();
        var database = _shop.Open(connection: strict.OwnerConnection);
        await strict.ExecuteAsync("create table effects (message_id text not null)");
        var endpoint = _shop.Endpoint(execute: Insert, database: database, change: config => config with { Once = true });
        await database.Tables.EnsureReadyAsync(cancellationToken);
        await strict.ExecuteAsync(
            "do $$ declare name text; begin for name in select inhrelid::regclass::text from pg_inherits where inhparent = "
                + "'esb.endpoint_inbox'::regclass loop execute 'drop table ' || name; end loop; end $$"
        );
        var message = Some.Message("""{ "id": "a" }""");

        var failure = Assert.ThrowsAsync<EndpointException>(async () => await endpoint.SendAsync(message, cancellationToken))!;
        await endpoint.SendAsync(message, cancellationToken);

        Assert.That((failure.Code, failure.IsOutage), Is.EqualTo(("ESB-SQL-INBOX", true)));
    }

    [Test]
    public async Task Copies_at_the_same_moment_have_one_effect(CancellationToken cancellationToken)
    {
        var database = _shop.Open();
        var endpoints = Enumerable
            .Range(0, 8)
            .Select(_ =>
                _shop.Endpoint(
                    execute: $"{Insert}; select pg_sleep(0.01)",
                    database: database,
                    change: config => config with { Once = true }
                )
            )
            .ToList();

        for (var round = 0; round < 20; round++)
        {
            var message = Some.Message($$"""{ "id": "{{round}}" }""");
            var answers = await Task.WhenAll(endpoints.Select(endpoint => endpoint.SendAsync(message, cancellationToken).AsTask()));
            Assert.That(answers.Count(answer => answer?.Headers[EsbHeaders.Duplicate] == "ESB-SQL-DUPLICATE"), Is.EqualTo(7));
        }

        Assert.That(await _shop.ReadAsync<string>("select message_id from effects", cancellationToken), Has.Count.EqualTo(20).And.Unique);
    }
}
