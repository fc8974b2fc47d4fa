using Esb.Configuration;
using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Storage;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres;
using Esb.Storage.Postgres.Audit;
using Esb.Storage.Postgres.Evidence;
using Esb.Storage.Sql.Activities;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage.Audit;

public sealed class AuditEvidenceTests
{
    private static readonly DateTimeOffset Noon = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);
    private static readonly DateOnly Day = DateOnly.FromDateTime(Noon.UtcDateTime);

    private TestSchema _schema = null!;

    [SetUp]
    public async Task Start() => _schema = await TestSchema.StartAsync();

    [TearDown]
    public Task Remove() => _schema.DisposeAsync().AsTask();

    [Test, CancelAfter(60_000)]
    public async Task What_several_hosts_recorded_late_twice_and_over_restarts_holds(CancellationToken cancellationToken)
    {
        var other = _schema.Open(Path.Combine(_schema.Config.Folder, "other"));
        await other.StartAsync(cancellationToken);
        var facts = Facts(600, Noon);
        await other.Audit.AppendAsync(facts[..300], cancellationToken);
        await other.Audit.AppendAsync([facts[299], .. Facts(3, Noon.AddDays(-1))], cancellationToken);
        await _schema.StopAsync();
        var reopened = _schema.Open();
        await reopened.StartAsync(cancellationToken);
        await reopened.Audit.AppendAsync([.. facts[290..310], .. Facts(5, Noon.AddDays(1))], cancellationToken);
        await reopened.Audit.AppendAsync(facts, cancellationToken);

        var (verdict, chains) = await VerifyAsync(stop: true, cancellationToken);

        Assert.That(verdict.Breaks, Is.Empty);
        Assert.That((verdict.Facts, verdict.Unchained), Is.EqualTo((608L, 0L)));
        Assert.That(
            chains.Select(chain => (chain.Day, chain.First, chain.Last)),
            Is.EquivalentTo([(Day.AddDays(-1), 1, 3), (Day, 1, 300), (Day, 1, 300), (Day.AddDays(1), 1L, 5L)])
        );
        Assert.That(
            chains.Select(chain => chain.AnchoredTo),
            Is.EqualTo(chains.Select(chain => (long?)chain.Last)),
            "each was anchored when its host stopped"
        );
    }

    [TestCase("update audit_event set reason = 'nothing' where number = 401", 401, 401, TestName = "A changed byte is found")]
    [TestCase("delete from audit_event where number = 401", 401, 401, TestName = "A deleted row is found")]
    [TestCase(
        "update audit_event a set number = 801 - a.number + 10000 where number in (400, 401); update audit_event set number = "
            + "number - 10000 where number > 10000",
        400,
        400,
        TestName = "Two rows in each other's place are found",
        Category = "Thorough"
    )]
    [TestCase(
        "delete from audit_event where number > 500",
        501,
        600,
        TestName = "A hundred rows less at the end are found",
        Category = "Thorough"
    )]
    [TestCase("truncate audit_event_20260301", 1, 600, TestName = "A day without rows is found", Category = "Thorough")]
    [TestCase(
        "update audit_event set body = 'x' where number = 401",
        401,
        401,
        TestName = "A changed body is found",
        Category = "Thorough"
    )]
    [TestCase(
        "update audit_event set body = null where number = 401",
        401,
        401,
        TestName = "A body that was removed without a record is found",
        Category = "Thorough"
    )]
    [TestCase(
        "update audit_event set kind = 'Nothing' where number = 401",
        401,
        401,
        TestName = "A row that cannot be read is found",
        Category = "Thorough"
    )]
    [TestCase(
        "update audit_event set kind = kind || ' ' where number = 401",
        401,
        401,
        TestName = "A kind with a blank is found",
        Category = "Thorough"
    )]
    [TestCase(
        "update audit_event set kind = '5' where number = 401",
        401,
        401,
        TestName = "A kind by its number is found",
        Category = "Thorough"
    )]
    [TestCase(
        "update audit_event set body_state = ' ' || body_state where number = 402",
        402,
        402,
        TestName = "A state of a body with a blank is found",
        Category = "Thorough"
    )]
    [TestCase(
        "update audit_event set duration = duration + interval '1 month' where number = 401",
        401,
        401,
        TestName = "A duration with months is found",
        Category = "Thorough"
    )]
    [TestCase(
        "update audit_event set duration = duration - interval '1 month' where number = 401",
        401,
        401,
        TestName = "A duration with negative months is found",
        Category = "Thorough"
    )]
    [TestCase(
        "update audit_event set duration = interval '2000000000 days' where number = 401",
        401,
        401,
        TestName = "A duration beyond all time is found",
        Category = "Thorough"
    )]
    [TestCase("drop table audit_event_20260301", 1, 600, TestName = "A dropped day is found")]
    [TestCase(
        "delete from audit_field where event_id in (select id from audit_event where number = 401)",
        0,
        0,
        TestName = "Fields that are not searched any more are found",
        Category = "Thorough"
    )]
    [TestCase(
        "update audit_field set value = 'A-0' where value = 'A-100' and event_id in (select id from audit_event where number = 401)",
        0,
        0,
        TestName = "A changed field that is searched is found"
    )]
    [TestCase(
        "insert into audit_field select name, 'A-0', event_id, occurred_at from audit_field where event_id in (select id from "
            + "audit_event where number = 401) and name = 'order'",
        0,
        0,
        TestName = "An added field that is searched is found",
        Category = "Thorough"
    )]
    [TestCase(
        "drop table audit_field_20260301",
        0,
        0,
        TestName = "A dropped day of fields that are searched is found",
        Category = "Thorough"
    )]
    [CancelAfter(60_000), Property("Case", "T-AUD-4")]
    public async Task Tampering_is_found(string sql, long from, long to)
    {
        await _schema.Store.Audit.AppendAsync(Facts(300, Noon), default);
        await _schema.Store.Audit.AppendAsync(Facts(300, Noon.AddSeconds(1)), default);
        await _schema.Store.Audit.AppendAsync(Facts(300, Noon.AddDays(1)), default);
        var (untouched, _) = await VerifyAsync(stop: true, default);

        await _schema.QueryAsync<int>(
            sql.Replace("audit_event set", "audit_event_20260301 set")
                .Replace("audit_event a", "audit_event_20260301 a")
                .Replace("from audit_event ", "from audit_event_20260301 ")
        );
        var (verdict, _) = await VerifyAsync(stop: true, default);

        Assert.That(untouched.Breaks, Is.Empty);
        var first = verdict.Breaks[0];
        Assert.That((first.Day, first.From, first.To), Is.EqualTo((Day, from, to)));
        Assert.That(verdict.Breaks, Has.All.Matches<AuditBreak>(found => found.Day == Day), "the other day is not blamed");
        TestContext.Out.WriteLine(string.Join("\n", verdict.Breaks));
    }

    [Test, CancelAfter(60_000), Property("Case", "AUD-08")]
    public async Task A_break_is_told_with_the_last_anchor_before_it(CancellationToken cancellationToken)
    {
        await using (var anchors = AnchorLog.TryOpen(_schema.Evidence, TimeProvider.System, NullLogger.Instance))
        await using (var database = new PostgresDatabase(_schema.Config, readOnly: false, TimeProvider.System, NullLogger.Instance))
        {
            var writer = new PostgresAuditWriter(
                database.Source,
                database.Partitions,
                new PostgresChain(database.Source, anchors),
                TimeProvider.System
            );
            await writer.WriteAsync(Facts(50, Noon), cancellationToken);
            anchors!.WriteHeads();
            await writer.WriteAsync(Facts(50, Noon), cancellationToken);
        }

        // Someone who knows how chains are made rewrites one from the 51st fact on.
        await RewriteAsync(from: 51, cancellationToken);
        var (verdict, chains) = await VerifyAsync(stop: true, cancellationToken);

        var found = verdict.Breaks.Single();
        Assert.That(
            (found.From, found.To, found.LastAnchor?.Number, found.Problem),
            Is.EqualTo((51L, 100L, (long?)50L, "The chain is not the one that an anchor tells of: facts were rewritten."))
        );
        Assert.That(chains.Single().AnchoredTo, Is.EqualTo(50));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_commit_that_arrives_although_nobody_knew_does_not_split_the_chain(CancellationToken cancellationToken)
    {
        await _schema.Store.Audit.AppendAsync(Facts(10, Noon), cancellationToken);
        var late = Facts(3, Noon);
        await using (var database = new PostgresDatabase(_schema.Config, readOnly: false, TimeProvider.System, NullLogger.Instance))
        {
            var (chain, head) = await HeadAsync();
            await PostgresAuditRows.InsertAsync(
                database.Source,
                PostgresFactRow.Alone(
                    late.Select(fact => new ChainedFact(SealedFact.Of(fact), chain, head = head.Next(SealedFact.Of(fact).Digest)))
                ),
                cancellationToken
            );
        }

        await _schema.Store.Audit.AppendAsync([.. late, .. Facts(4, Noon)], cancellationToken);

        var (verdict, chains) = await VerifyAsync(stop: true, cancellationToken);
        Assert.That(verdict.Breaks, Is.Empty);
        Assert.That((chains.Single().Last, verdict.Facts), Is.EqualTo((17L, 17L)));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_group_that_is_refused_leaves_no_gap(CancellationToken cancellationToken)
    {
        await _schema.QueryAsync<int>("alter table audit_event add constraint no_bad check (name <> 'bad')");
        await _schema.Store.Audit.AppendAsync(Facts(5, Noon), cancellationToken);

        Assert.That(
            () => _schema.Store.Audit.AppendAsync([.. Facts(2, Noon), SomeFacts.Fact(time: Noon) with { Name = "bad" }], cancellationToken),
            Throws.Exception
        );
        await _schema.Store.Audit.AppendAsync(Facts(5, Noon), cancellationToken);

        var (verdict, chains) = await VerifyAsync(stop: true, cancellationToken);
        Assert.That(verdict.Breaks, Is.Empty);
        Assert.That(chains.Single().Last, Is.EqualTo(10));
    }

    [Test, CancelAfter(60_000)]
    public async Task An_erased_body_leaves_the_chain_whole(CancellationToken cancellationToken)
    {
        var facts = Facts(10, Noon);
        await _schema.Store.Audit.AppendAsync(facts, cancellationToken);

        await _schema.Store.Audit.AppendAsync([SomeFacts.Fact(AuditKind.Erased, facts[4].MessageId, time: Noon)], cancellationToken);
        var erased = await _schema.Store.Eraser.EraseBodiesAsync(facts[4].MessageId, cancellationToken);
        var again = await _schema.Store.Eraser.EraseBodiesAsync(facts[4].MessageId, cancellationToken);

        var found = await _schema
            .Store.Audit.FindAsync(new AuditQuery { MessageId = facts[4].MessageId, Kind = AuditKind.Failed }, cancellationToken)
            .SingleAsync(cancellationToken);
        var (verdict, _) = await VerifyAsync(stop: true, cancellationToken);
        Assert.That((erased, again), Is.EqualTo((1L, 0L)));
        Assert.That((found.Body, found.BodyState), Is.EqualTo(((ReadOnlyMemory<byte>?)null, (AuditBodyState?)AuditBodyState.Erased)));
        Assert.That((verdict.TotalBreaks, verdict.Erased), Is.EqualTo((0L, 1L)));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_chain_with_a_forged_erasure_passes_for_nothing_where_verification_is_strict(CancellationToken cancellationToken)
    {
        var facts = Facts(10, Noon);
        await _schema.Store.Audit.AppendAsync(facts, cancellationToken);
        await VerifyAsync(stop: true, cancellationToken); // the anchors of this chain are written
        var config = _schema.Config with { Folder = Path.Combine(_schema.Config.Folder, "forger") };
        await using (
            var forger = new PostgresStore(config, new AuditEvidenceConfig(), TimeProvider.System, NullLogger<PostgresStore>.Instance)
        ) // no anchors
        {
            await forger.StartAsync(cancellationToken);
            await forger.Audit.AppendAsync([SomeFacts.Fact(AuditKind.Erased, facts[4].MessageId, time: Noon)], cancellationToken);
            await forger.StopAsync(cancellationToken);
        }

        await _schema.QueryAsync<int>($"update audit_event set body = null where message_id = '{facts[4].MessageId}'");

        await using var database = new PostgresDatabase(_schema.Config, readOnly: true, TimeProvider.System, NullLogger.Instance);
        var evidence = new PostgresEvidence(database, _schema.Evidence);
        var lenient = await evidence.VerifyAsync(null, null, _ => { }, cancellationToken);
        var strict = await evidence.VerifyStrictlyAsync(null, null, Day.AddDays(1), _ => { }, cancellationToken);
        var sameDay = await evidence.VerifyStrictlyAsync(null, null, Day, _ => { }, cancellationToken);

        Assert.That(lenient.TotalBreaks, Is.Zero);
        Assert.That(
            strict.Breaks.Select(found => found.Problem),
            Is.EquivalentTo(
                new[]
                {
                    "The body is gone, and no fact tells that it was erased.",
                    "The day is over, and no anchor confirms the chain: anybody who may insert can have made it.",
                }
            )
        );
        Assert.That(sameDay.TotalBreaks, Is.EqualTo(1), "the chain of today may get its anchor still");
    }

    [Test, CancelAfter(60_000)]
    public async Task A_body_that_was_recorded_after_an_erasure_does_not_count_as_erased(CancellationToken cancellationToken)
    {
        var message = Guid.NewGuid();
        var body = new byte[100];
        await _schema.Store.Audit.AppendAsync(
            [
                SomeFacts.Fact(AuditKind.Received, message, time: Noon) with
                {
                    Body = body,
                },
                SomeFacts.Fact(AuditKind.Erased, message, time: Noon.AddHours(1)),
            ],
            cancellationToken
        );
        await _schema.Store.Eraser.EraseBodiesAsync(message, cancellationToken);
        var replayed = SomeFacts.Fact(AuditKind.Delivered, message, time: Noon.AddHours(3)) with { Body = body };
        await _schema.Store.Audit.AppendAsync([replayed], cancellationToken);
        var (sound, _) = await VerifyAsync(stop: true, cancellationToken);

        await _schema.QueryAsync<int>("update audit_event set body = null where kind = 'Delivered'");

        var (verdict, _) = await VerifyAsync(stop: true, cancellationToken);
        Assert.That((sound.TotalBreaks, sound.Erased), Is.EqualTo((0L, 1L)));
        Assert.That(
            verdict.Breaks.Select(found => (found.Fact, found.Problem)),
            Is.EqualTo([((Guid?)replayed.Id, "The body is gone, and no fact tells that it was erased.")])
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_row_that_cannot_be_read_stands_in_no_way_of_those_who_search(CancellationToken cancellationToken)
    {
        var facts = Facts(3, Noon);
        await _schema.Store.Audit.AppendAsync(facts, cancellationToken);
        await _schema.QueryAsync<int>(
            "update audit_event set duration = interval '1 month', kind = kind || ' ', body_state = body_state || ' '"
        );

        var found = await _schema.Store.Audit.FindAsync(new AuditQuery { Limit = 10 }, cancellationToken).ToListAsync(cancellationToken);

        Assert.That(found.Select(fact => fact.Duration), Is.EqualTo(new TimeSpan?[] { null, null, null }));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_host_whose_clock_is_ahead_lets_go_of_nothing_that_is_not_old_for_the_database(CancellationToken cancellationToken)
    {
        var now = TimeProvider.System.GetUtcNow();
        await _schema.Store.Audit.AppendAsync([.. Facts(5, now.AddDays(-40)), .. Facts(5, now.AddDays(-20))], cancellationToken);
        var time = new ManualTime();
        time.Advance(now.AddDays(60) - time.GetUtcNow());
        using var log = new LogLines();
        await using var database = new PostgresDatabase(_schema.Config, readOnly: false, time, log.CreateLogger("store"));
        await using var activities = new ActivityStore(database);
        foreach (var days in (int[])[40, 20])
            await activities.RecordAsync(
                [
                    new ActivityProgress
                    {
                        Activity = "order",
                        ConversationId = Guid.NewGuid(),
                        At = now.AddDays(-days),
                        Key = $"{days}",
                        Milestone = "received",
                    },
                ],
                cancellationToken
            );
        var monthAgo = time.GetUtcNow() - TimeSpan.FromDays(30);

        await database.Partitions.DropBeforeAsync(monthAgo, beforeDrop: null, cancellationToken);
        await activities.RemoveBeforeAsync(monthAgo, cancellationToken);

        Assert.That(await _schema.QueryAsync<long>("select count(*) from audit_event"), Is.EqualTo([5L]), "those of twenty days ago");
        Assert.That(
            (await activities.FindAsync(new ActivityQuery { Activity = "order" }, cancellationToken).ToListAsync(cancellationToken)).Select(
                item => item.Key
            ),
            Is.EqualTo(["20"])
        );
        Assert.That(log.All.Select(line => line.Text), Has.Some.Contains("ahead of the database's"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_day_that_the_retention_let_go_is_not_missed(CancellationToken cancellationToken)
    {
        await _schema.Store.Audit.AppendAsync([.. Facts(5, Noon), .. Facts(5, Noon.AddDays(1))], cancellationToken);

        await _schema.Store.Retention.RemoveBeforeAsync(Noon.AddDays(1), cancellationToken);

        var (verdict, chains) = await VerifyAsync(stop: true, cancellationToken);
        Assert.That(verdict.Breaks, Is.Empty);
        Assert.That(chains.Single().Day, Is.EqualTo(Day.AddDays(1)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Every_fact_is_counted_that_searches_miss_and_the_first_are_named(CancellationToken cancellationToken)
    {
        var facts = Facts(150, Noon);
        await _schema.Store.Audit.AppendAsync(facts, cancellationToken);

        await _schema.QueryAsync<int>("delete from audit_field where name = 'order'");

        var (verdict, chains) = await VerifyAsync(stop: true, cancellationToken);
        Assert.That((verdict.TotalBreaks, chains.Single().Breaks), Is.EqualTo((150L, 0L)));
        Assert.That(verdict.Breaks.Select(found => found.Fact), Is.EqualTo(facts.Select(fact => (Guid?)fact.Id).Order().Take(100)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Fields_that_are_longer_than_what_is_searched_are_no_break(CancellationToken cancellationToken)
    {
        var odd = "x" + string.Concat(Enumerable.Repeat("\U0001F600", 200));
        var fields = new[]
        {
            ("ascii", new string('a', 300)),
            ("wide", new string('ß', 300)),
            ("pairs", odd),
            ("pairs, even", odd[1..]),
            (odd, "long name"),
            ("short", "\U0001F600"),
        };
        await _schema.Store.Audit.AppendAsync(
            [
                SomeFacts.Fact(time: Noon, fields: fields),
                SomeFacts.Fact(time: Noon, fields: [(odd + "1", "both are"), (odd + "2", "both are")]),
            ],
            cancellationToken
        );

        var (verdict, _) = await VerifyAsync(stop: true, cancellationToken);

        Assert.That((verdict.Facts, verdict.TotalBreaks), Is.EqualTo((2L, 0L)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Anchors_that_were_changed_are_told_of(CancellationToken cancellationToken)
    {
        await _schema.Store.Audit.AppendAsync(Facts(5, Noon), cancellationToken);
        await VerifyAsync(stop: true, cancellationToken);
        var file = Directory.EnumerateFiles(_schema.Evidence.Anchors!).Single();
        var text = await File.ReadAllTextAsync(file, cancellationToken);

        await File.WriteAllTextAsync(file, text.Replace("\"count\":5", "\"count\":4"), cancellationToken);

        var (verdict, _) = await VerifyAsync(stop: true, cancellationToken);
        Assert.That(verdict.Breaks.Single().Problem, Does.Contain("line 1 is not signed with this key, or was changed"));
    }

    private static List<AuditFact> Facts(int count, DateTimeOffset time) =>
        [
            .. Enumerable
                .Range(0, count)
                .Select(number =>
                    SomeFacts.Fact(
                        AuditKind.Failed,
                        time: time.AddTicks(number * 7),
                        fields: [("order", $"A-{number}"), ("größe", "„ä“ \0 \ud83d")]
                    ) with
                    {
                        Reason = "The database\0 did not answer.",
                        Endpoint = "orders-db",
                        Duration = TimeSpan.FromTicks(1234567),
                        Headers = new Dictionary<string, string> { ["z"] = "1", ["a"] = "2" },
                        Body = number % 3 == 0 ? null : (ReadOnlyMemory<byte>?)new byte[number + 100],
                        BodyState = number % 3 == 0 ? null : AuditBodyState.Whole,
                    }
                ),
        ];

    private async Task<(AuditVerdict Verdict, List<FollowedChain> Chains)> VerifyAsync(bool stop, CancellationToken cancellationToken)
    {
        if (stop)
            await _schema.StopAsync();
        await using var reader = StoreReader.Open(
            _schema.Config,
            new StoreReading(Configuration: null, _schema.Evidence),
            NullLogger.Instance
        );
        var chains = new List<FollowedChain>();
        return (await reader.Evidence!.VerifyAsync(null, null, chains.Add, cancellationToken), chains);
    }

    private async Task<(Guid Chain, ChainHead Head)> HeadAsync()
    {
        var (chain, number, link) = (
            await _schema.QueryAsync<(Guid, long, byte[])>("select chain, number, link from audit_event order by number desc limit 1")
        ).Single();
        return (chain, new ChainHead(number, link));
    }

    private async Task RewriteAsync(long from, CancellationToken cancellationToken)
    {
        await using var database = new PostgresDatabase(_schema.Config, readOnly: false, TimeProvider.System, NullLogger.Instance);
        await database.EnsureReadyAsync(cancellationToken);
        var rows = await new PostgresEvidence(database, _schema.Evidence).ReadAsync(Day, cancellationToken).ToListAsync(cancellationToken);
        await _schema.QueryAsync<int>(
            $"delete from audit_field where event_id in (select id from audit_event where number >= {from}); delete from "
                + $"audit_event where number >= {from}"
        );
        var before = rows.First(row => row.Number == from - 1);
        var head = new ChainHead(before.Number, before.Link);
        var forged = rows.Where(row => row.Number >= from).Select(row => SealedFact.Of(row.Fact! with { Endpoint = "other" })).ToList();
        await PostgresAuditRows.InsertAsync(
            database.Source,
            PostgresFactRow.Alone(forged.Select(fact => new ChainedFact(fact, before.Chain!.Value, head = head.Next(fact.Digest)))),
            cancellationToken
        );
    }
}
