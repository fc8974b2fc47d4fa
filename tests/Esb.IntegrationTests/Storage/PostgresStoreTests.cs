using Dapper;
using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.IntegrationTests.Storage.Audit;
using Esb.IntegrationTests.Topics;
using Esb.Storage;
using Esb.Storage.Postgres;
using Esb.Tests.Storage;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage;

public sealed class PostgresStoreTests
{
    private TestSchema _schema = null!;

    [SetUp]
    public async Task Start() => _schema = await TestSchema.StartAsync();

    [TearDown]
    public Task Remove() => _schema.DisposeAsync().AsTask();

    [Test, CancelAfter(60_000)]
    public async Task Hosts_that_start_together_make_the_tables_once(CancellationToken cancellationToken)
    {
        await _schema.QueryAsync<int>($"drop schema {_schema.Config.Schema} cascade");
        var stores = Enumerable.Range(0, 4).Select(number => _schema.Open(Path.Combine(_schema.Config.Folder, $"{number}"))).ToList();

        await Task.WhenAll(stores.Select(store => store.StartAsync(cancellationToken)));

        Assert.That(
            await _schema.QueryAsync<int>("select number from schema_version order by number"),
            Is.Unique.And.SupersetOf(new[] { 1, 2, 6, 7 })
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Tables_of_a_later_version_are_refused_at_start(CancellationToken cancellationToken)
    {
        await _schema.QueryAsync<int>("insert into schema_version (number, name) values (999, 'later')");

        Assert.That(
            () => _schema.Open(Path.Combine(_schema.Config.Folder, "other")).StartAsync(cancellationToken),
            Throws.TypeOf<EsbException>().With.Property(nameof(EsbException.Code)).EqualTo("ESB-STORE-VERSION")
        );
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "T-HLT-1")]
    public async Task A_database_that_answers_but_takes_no_facts_is_told_of_and_the_check_leaves_none(CancellationToken cancellationToken)
    {
        var schema = _schema.Config.Schema;
        var before = await _schema.Store.Audit.CheckAsync(cancellationToken);
        var left = (await _schema.QueryAsync<long>("select count(*) from audit_event")).Single();

        await _schema.QueryAsync<int>(
            $"""
            create function {schema}.refuse() returns trigger language plpgsql as $$ begin raise exception 'closed for today'; end $$;
            create trigger refuse before insert on audit_event for each statement execute function {schema}.refuse()
            """
        );
        var refused = await _schema.Store.Audit.CheckAsync(cancellationToken);
        await _schema.QueryAsync<int>("drop trigger refuse on audit_event");

        Assert.That(
            (before, left, await _schema.Store.Audit.CheckAsync(cancellationToken)),
            Is.EqualTo(((string?)null, 0L, (string?)null))
        );
        Assert.That(refused, Does.Contain("closed for today"));
    }

    [Test, CancelAfter(60_000)]
    [Property("Case", "T-AUD-2")]
    public async Task Sessions_that_ended_are_no_database_that_is_away(CancellationToken cancellationToken)
    {
        var name = $"esb {Guid.NewGuid():N}";
        var store = _schema.Open(Path.Combine(_schema.Config.Folder, "other"), $"{_schema.Config.Connection};Application Name={name}");
        await store.StartAsync(cancellationToken);
        var fact = SomeFacts.Fact();
        await store.Audit.AppendAsync([fact], cancellationToken);
        Assert.That(await store.Audit.CheckAsync(cancellationToken), Is.Null);
        // searches have sessions of their own
        Assert.That(await store.Audit.GetJourneyAsync(fact.MessageId, cancellationToken), Has.Count.EqualTo(1));

        var ended = await _schema.QueryAsync<bool>(
            $"select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name = '{name}'"
        );

        Assert.That(ended, Is.Not.Empty.And.All.True);
        Assert.That(await store.Audit.CheckAsync(cancellationToken), Is.Null);
        Assert.That(await store.Audit.GetJourneyAsync(fact.MessageId, cancellationToken), Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(60_000)]
    public async Task Reading_rows_to_their_end_opens_no_connection_beyond_the_pooled_one(CancellationToken cancellationToken)
    {
        var server = new NpgsqlConnectionStringBuilder(_schema.Config.Connection);
        await using var proxy = new TcpProxy(new Uri($"tcp://{server.Host}:{server.Port}"));
        var store = _schema.Open(
            Path.Combine(_schema.Config.Folder, "other"),
            new NpgsqlConnectionStringBuilder(server.ConnectionString) { Port = proxy.Address.Port }.ConnectionString
        );
        await store.StartAsync(cancellationToken);
        var fact = SomeFacts.Fact();
        await store.Audit.AppendAsync([fact], cancellationToken);
        await ReadAsync();
        var before = proxy.Connections;

        for (var round = 0; round < 10; round++)
            await ReadAsync();

        Assert.That(proxy.Connections, Is.EqualTo(before));

        async Task ReadAsync()
        {
            Assert.That(await store.Audit.GetJourneyAsync(fact.MessageId, cancellationToken), Has.Count.EqualTo(1));
            Assert.That(await store.DeadLetters.GroupAsync(new(), byCause: true, cancellationToken), Is.Empty);
        }
    }

    [Test, CancelAfter(60_000)]
    public async Task Rows_that_nobody_reads_any_more_end_at_the_server_and_leave_the_session_usable(CancellationToken cancellationToken)
    {
        await using var database = new PostgresDatabase(_schema.Config, readOnly: true, TimeProvider.System, NullLogger.Instance);

        var first = await database
            .QueryAsync<long>("select generate_series(1, 1000000000000)", new { }, cancellationToken)
            .FirstAsync(cancellationToken);

        Assert.That(
            (first, await database.QueryAsync<long>("select 2::bigint", new { }, cancellationToken).SingleAsync(cancellationToken)),
            Is.EqualTo((1L, 2L))
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task Reports_that_nobody_reads_on_leave_the_audit_its_connections(CancellationToken cancellationToken)
    {
        const int connections = 4;
        var store = _schema.Open(
            Path.Combine(_schema.Config.Folder, "other"),
            $"{_schema.Config.Connection};Maximum Pool Size={connections}"
        );
        await store.StartAsync(cancellationToken);
        await store.Activities.RecordAsync(
            [
                new ActivityProgress
                {
                    Activity = "orders",
                    ConversationId = Guid.NewGuid(),
                    At = TimeProvider.System.GetUtcNow(),
                    Key = "A-1",
                    Milestone = "taken",
                },
            ],
            cancellationToken
        );
        var reports = Enumerable
            .Range(0, connections)
            .Select(_ =>
                store
                    .Activities.FindAsync(new ActivityQuery { Activity = "orders" }, cancellationToken)
                    .GetAsyncEnumerator(cancellationToken)
            )
            .ToList();
        foreach (var report in reports)
            Assert.That(await report.MoveNextAsync(), Is.True);

        var trouble = await store.Audit.CheckAsync(cancellationToken);

        foreach (var report in reports)
            await report.DisposeAsync();
        Assert.That(trouble, Is.Null);
    }

    [Test]
    public async Task Partitions_of_the_coming_days_are_there_after_the_start()
    {
        var today = DateOnly.FromDateTime(TimeProvider.System.GetUtcNow().UtcDateTime);

        var partitions = await _schema.QueryAsync<string>(
            "select child.relname from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = 'audit_event'::regclass"
        );

        Assert.That(partitions, Is.SupersetOf(Enumerable.Range(0, 8).Select(days => $"audit_event_{today.AddDays(days):yyyyMMdd}")));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_reader_of_a_table_holds_up_the_making_of_its_days_and_not_the_store(CancellationToken cancellationToken)
    {
        var last = DateOnly.FromDateTime(TimeProvider.System.GetUtcNow().UtcDateTime).AddDays(7);
        await _schema.QueryAsync<int>($"drop table idempotency_key_{last:yyyyMMdd}");
        await using var backup = new NpgsqlConnection(_schema.Config.Connection + $";Search Path={_schema.Config.Schema}");
        await backup.OpenAsync(cancellationToken);
        await using var reading = await backup.BeginTransactionAsync(cancellationToken);
        await backup.ExecuteAsync("lock table idempotency_key in access share mode");

        var store = _schema.Open(Path.Combine(_schema.Config.Folder, "other"));
        await store.StartAsync(cancellationToken);

        Assert.That(await store.DeadLetters.GroupAsync(new(), byCause: true, cancellationToken), Is.Empty, "it answers");
    }

    [Test, CancelAfter(60_000)]
    public async Task Facts_that_outlived_the_retention_go_with_their_days(CancellationToken cancellationToken)
    {
        var start = new DateTimeOffset(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);
        var facts = Enumerable.Range(0, 5).Select(day => SomeFacts.Fact(time: start.AddDays(day), fields: [("order", "A-1001")])).ToList();
        await _schema.Store.Audit.AppendAsync(facts, cancellationToken);

        await _schema.Store.Retention.RemoveBeforeAsync(start.AddDays(3), cancellationToken);

        var where = new AuditQuery { Where = new Dictionary<string, string> { ["order"] = "A-1001" } };
        var kept = await _schema.Store.Audit.FindAsync(where, cancellationToken).ToListAsync(cancellationToken);
        Assert.That(kept.Select(fact => fact.Id), Is.EqualTo([facts[4].Id, facts[3].Id]));

        await _schema.Store.Audit.AppendAsync([facts[0]], cancellationToken); // a late one makes its day again
        Assert.That(await _schema.Store.Audit.GetJourneyAsync(facts[0].MessageId, cancellationToken), Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_day_that_another_host_dropped_is_made_again(CancellationToken cancellationToken)
    {
        var time = new DateTimeOffset(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);
        await _schema.Store.Audit.AppendAsync([SomeFacts.Fact(time: time)], cancellationToken);
        await _schema.QueryAsync<int>("drop table audit_event_20260101; drop table audit_field_20260101");

        var fact = SomeFacts.Fact(time: time);
        await _schema.Store.Audit.AppendAsync([fact], cancellationToken);

        Assert.That(await _schema.Store.Audit.GetJourneyAsync(fact.MessageId, cancellationToken), Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(60_000), Property("Case", "AUD-05")]
    public async Task A_fact_that_the_database_refuses_takes_no_other_with_it(CancellationToken cancellationToken)
    {
        await _schema.QueryAsync<int>("alter table audit_event add constraint no_bad check (name <> 'bad')");
        var good = Enumerable.Range(0, 20).Select(_ => SomeFacts.Fact()).ToList();

        var appending = good.Select(fact => _schema.Store.Audit.AppendAsync([fact], cancellationToken)).ToList();
        var refused = _schema.Store.Audit.AppendAsync([SomeFacts.Fact() with { Name = "bad" }], cancellationToken);

        Assert.That(
            () => refused,
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-AUD-WRITE").And.Property("IsTransient").False
        );
        await Task.WhenAll(appending);
        Assert.That(await _schema.QueryAsync<long>("select count(*) from audit_event"), Is.EqualTo([20L]));
    }

    [Test, CancelAfter(60_000)]
    public async Task Commits_wait_for_the_disk_whatever_the_roles_default_is(CancellationToken cancellationToken)
    {
        await using var store = new Esb.Storage.Postgres.PostgresDatabase(
            _schema.Config,
            readOnly: false,
            TimeProvider.System,
            NullLogger.Instance
        );
        await using var command = store.Source.CreateCommand("show synchronous_commit");

        Assert.That(await command.ExecuteScalarAsync(cancellationToken), Is.EqualTo("on"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_reader_beside_the_host_sees_its_facts_and_can_write_none(CancellationToken cancellationToken)
    {
        await using var reader = StoreReader.Open(
            _schema.Config,
            new StoreReading(Configuration: null, _schema.Evidence),
            NullLogger.Instance
        );
        var fact = SomeFacts.Fact();
        await _schema.Store.Audit.AppendAsync([fact], cancellationToken);

        Assert.That(await reader.Audit.GetJourneyAsync(fact.MessageId, cancellationToken), Has.Count.EqualTo(1));
        Assert.That(() => reader.Audit.AppendAsync([SomeFacts.Fact()], cancellationToken), Throws.TypeOf<EsbException>());
    }

    [Test, CancelAfter(60_000)]
    public async Task Tables_of_an_earlier_version_are_read_only_where_that_is_asked_for(CancellationToken cancellationToken)
    {
        await _schema.QueryAsync<int>("delete from schema_version where number = (select max(number) from schema_version)");
        var reading = new StoreReading(Configuration: null, _schema.Evidence);
        await using var usual = StoreReader.Open(_schema.Config, reading, NullLogger.Instance);
        await using var before = StoreReader.Open(_schema.Config, reading with { TakesEarlier = true }, NullLogger.Instance);

        Assert.That(
            () => usual.Workflows.LiveDefinitionsAsync(cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-STORE-VERSION")
        );
        Assert.That(await before.Workflows.LiveDefinitionsAsync(cancellationToken), Is.Empty);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_reader_makes_no_tables(CancellationToken cancellationToken)
    {
        await using var reader = StoreReader.Open(
            _schema.Config with
            {
                Schema = "esb_none",
            },
            new StoreReading(Configuration: null, _schema.Evidence),
            NullLogger.Instance
        );

        Assert.That(
            () => reader.Audit.GetJourneyAsync(Guid.NewGuid(), cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-STORE-VERSION")
        );
        Assert.That(await _schema.QueryAsync<string>("select nspname from pg_namespace where nspname = 'esb_none'"), Is.Empty);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_database_that_is_away_keeps_no_host_from_starting(CancellationToken cancellationToken)
    {
        var store = _schema.Open(
            Path.Combine(_schema.Config.Folder, "other"),
            connection: "Host=127.0.0.1;Port=1;Username=esb;Database=esb"
        );

        await store.StartAsync(cancellationToken);

        Assert.That(await store.Audit.CheckAsync(cancellationToken), Is.EqualTo("the database cannot be reached"));
        Assert.That(
            () => store.Audit.AppendAsync([SomeFacts.Fact()], cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-AUD-WRITE").And.Property("IsTransient").True
        );
        Assert.That(
            () => store.DeadLetters.AddAsync(Letter(), cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-STORE-AWAY").And.Property("IsTransient").True
        );
        await store.Audit.Spool!.AppendAsync(SomeFacts.Fact(), cancellationToken);
        Assert.That(store.Audit.Spool!.Length, Is.EqualTo(1));
    }

    private static DeadLetter Letter()
    {
        var id = Guid.CreateVersion7();
        var message = new EsbMessage
        {
            Id = id,
            ConversationId = id,
            CreatedAt = TimeProvider.System.GetUtcNow(),
        };
        return new DeadLetter(message, "orders-db", "ESB-X", "no", null, 1, message.CreatedAt, message.CreatedAt);
    }
}
