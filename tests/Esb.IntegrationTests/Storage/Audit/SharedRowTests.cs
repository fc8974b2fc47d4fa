using Esb.Core.Audit;
using Esb.Storage;
using Esb.Storage.Archives;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.IntegrationTests.Storage.Audit;

/// <summary>Facts of one message that share a row of the database.</summary>
public sealed class SharedRowTests
{
    private static readonly DateTimeOffset Noon = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);
    private static readonly DateOnly Day = DateOnly.FromDateTime(Noon.UtcDateTime);

    private TestSchema _schema = null!;

    [SetUp]
    public async Task Start()
    {
        _schema = await TestSchema.StartAsync();
        Directory.CreateDirectory(_schema.Evidence.Anchors!); // as of hosts before
    }

    [TearDown]
    public Task Remove() => _schema.DisposeAsync().AsTask();

    [TestCase(10, TestName = "Facts that go in as arrays share rows")]
    [TestCase(700, TestName = "Facts that go in by COPY share rows")]
    public async Task Facts_of_a_message_share_a_row(int messages)
    {
        var facts = Enumerable.Range(0, messages).SelectMany(number => Exchange(Noon.AddSeconds(number))).ToList();

        await _schema.Store.Audit.AppendAsync(facts, default);

        Assert.That(await RowsAsync(), Is.EqualTo(messages));
        Assert.That(
            await _schema.QueryAsync<long>("select count(*) from audit_field"),
            Is.EqualTo([3L * messages]),
            "a field that two facts have is one row"
        );
        var verdict = await VerifyAsync();
        Assert.That(verdict.Breaks, Is.Empty);
        Assert.That(verdict.Facts, Is.EqualTo(3 * messages));
    }

    [Test]
    public async Task What_differs_in_what_searches_ask_for_has_a_row_of_its_own([Values] bool isLater)
    {
        var first = SomeFacts.Fact(AuditKind.Received, time: Noon, fields: [("order", "1")]) with { Endpoint = "orders" };
        AuditFact Next(int milliseconds, AuditKind kind = AuditKind.Replied) =>
            SomeFacts.Fact(kind, first.MessageId, time: Noon.AddMilliseconds(milliseconds)) with
            {
                Endpoint = "orders",
            };

        await _schema.Store.Audit.AppendAsync(
            isLater
                ? [first, Next(1_001)]
                :
                [
                    first,
                    Next(1) with
                    {
                        Endpoint = "other",
                    },
                    Next(2) with
                    {
                        Process = "other",
                    },
                    Next(3) with
                    {
                        Party = "other",
                    },
                    Next(4) with
                    {
                        TraceId = "0af7651916cd43dd8448eb211c80319c",
                    },
                    Next(5) with
                    {
                        ConversationId = Guid.CreateVersion7(),
                    },
                    Next(6, AuditKind.Failed),
                    Next(7) with
                    {
                        Fields = new Dictionary<string, string> { ["order"] = "2" },
                    },
                ],
            default
        );

        Assert.That(await RowsAsync(), Is.EqualTo(isLater ? 2 : 8));
    }

    // A spool is moved again after a crash, perhaps in other groups; and a write that failed may have succeeded.
    [Test, CancelAfter(60_000)]
    public async Task Fact_that_shares_a_row_is_kept_once_however_it_comes_again(CancellationToken cancellationToken)
    {
        var facts = Exchange(Noon);
        await _schema.Store.Audit.AppendAsync(facts, cancellationToken);
        await _schema.StopAsync();
        var reopened = _schema.Open();
        await reopened.StartAsync(cancellationToken);

        foreach (var fact in facts)
            await reopened.Audit.AppendAsync([fact], cancellationToken);
        await reopened.Audit.AppendAsync([.. facts[..2], .. Exchange(Noon.AddSeconds(1))], cancellationToken);

        var found = await reopened.Audit.FindAsync(new AuditQuery(), cancellationToken).ToListAsync(cancellationToken);
        Assert.That(found.Select(fact => fact.Id), Is.Unique);
        Assert.That((await VerifyAsync()) is { Facts: 6, TotalBreaks: 0 }, Is.True);
    }

    [TestCase("endpoint = 'other'", "7-9")]
    [TestCase("party = 'other'", "7-9")]
    [TestCase("kind = 'Received'", "7-9")]
    [TestCase("reason = 'nothing'", "7-9")]
    [TestCase("part_kinds = part_kinds | 2", "7-9")]
    [TestCase("first_id = id", "7-9")]
    [TestCase("""fields = fields || '{"order": "other"}'""", "7-9")]
    [TestCase("""fields = fields || '{"more": "x"}'""", "7-9")]
    [TestCase("parts = set_byte(parts, octet_length(parts) - 1, 255 - get_byte(parts, octet_length(parts) - 1))", "7-9")]
    [TestCase("parts = set_byte(parts, 1, 2)", "7-8 9-9")]
    [TestCase("parts = null", "7-7 8-9")]
    [TestCase("parts = ''", "7-7 8-9")]
    [TestCase("parts = '', body = null", "7-7 8-9")]
    [TestCase("parts = parts || '\\xff'", "7-9")]
    [TestCase("fields = 'null'", "7-9")]
    [TestCase("link = null", "7-9 10-12")]
    [TestCase("reason = 'x', link = null", "7-9 10-12")]
    [TestCase("body = set_byte(body, 0, 255 - get_byte(body, 0))", "7-9")]
    [TestCase("body = substr(body, 2)", "7-9")]
    [TestCase("body = null", "7-7 9-9")]
    [CancelAfter(60_000), Property("Case", "T-AUD-4")]
    public async Task Tampering_with_a_shared_row_is_found(string change, string places)
    {
        var facts = Enumerable.Range(0, 5).SelectMany(number => Exchange(Noon.AddSeconds(number))).ToList();
        await _schema.Store.Audit.AppendAsync(facts, default);
        await _schema.StopAsync();
        var untouched = await VerifyAsync();

        var changed = await _schema.QueryAsync<long>($"update audit_event_20260301 set {change} where number = 7 returning number");
        var verdict = await VerifyAsync();

        Assert.That((untouched.TotalBreaks, changed), Is.EqualTo((0L, new[] { 7L })));
        Assert.That(verdict.Breaks, Is.Not.Empty);
        Assert.That(verdict.Breaks, Has.All.Matches<AuditBreak>(found => found.Day == Day));
        Assert.That(
            verdict.Breaks.Where(found => found.Chain is not null).Select(found => $"{found.From}-{found.To}"),
            Is.EqualTo(places.Split(' '))
        );
        await using var reader = Read();
        Assert.That(
            await reader.Audit.FindAsync(new AuditQuery { Limit = 1000 }, default).CountAsync(),
            Is.GreaterThan(12),
            "those of other rows, and something of this one"
        );
    }

    // What is recorded alone is a row as the version before wrote it.
    [Test, CancelAfter(60_000)]
    public async Task Database_of_the_version_before_is_migrated_and_searched_together_with_shared_rows(CancellationToken cancellationToken)
    {
        var (old, shared) = (Exchange(Noon), Exchange(Noon.AddSeconds(1)));
        foreach (var fact in old)
            await _schema.Store.Audit.AppendAsync([fact], cancellationToken);
        await _schema.StopAsync();
        await _schema.QueryAsync<int>(
            "alter table audit_event drop column first_id, drop column part_kinds, drop column parts; "
                + "delete from schema_version where number = 46"
        );

        var migrated = _schema.Open();
        await migrated.StartAsync(cancellationToken);
        await migrated.Audit.AppendAsync(shared, cancellationToken);
        await migrated.Audit.AppendAsync([.. old, .. shared], cancellationToken);

        var found = await migrated
            .Audit.FindAsync(new AuditQuery { Endpoint = "orders" }, cancellationToken)
            .ToListAsync(cancellationToken);
        Assert.That(found.Select(fact => fact.Id), Is.EqualTo(old.Concat(shared).Select(fact => fact.Id).Reverse()));
        Assert.That(await RowsAsync(), Is.EqualTo(4));
        await _schema.StopAsync();
        Assert.That((await VerifyAsync()) is { Facts: 6, TotalBreaks: 0 }, Is.True);
    }

    [Test, CancelAfter(60_000)]
    public async Task Row_that_is_gone_is_missed_and_the_next_one_holds(CancellationToken cancellationToken)
    {
        await _schema.Store.Audit.AppendAsync(
            [.. Enumerable.Range(0, 5).SelectMany(number => Exchange(Noon.AddSeconds(number)))],
            cancellationToken
        );
        await _schema.StopAsync();

        await _schema.QueryAsync<int>("delete from audit_field where event_id = (select id from audit_event where number = 7)");
        await _schema.QueryAsync<int>("delete from audit_event where number = 7");

        var verdict = await VerifyAsync();
        Assert.That(verdict.Breaks.Select(found => (found.From, found.To, found.Problem)), Is.EqualTo([(7L, 9L, "Facts are missing.")]));
    }

    [Test, CancelAfter(60_000)]
    public async Task All_bodies_of_a_shared_row_are_erased_and_counted(CancellationToken cancellationToken)
    {
        var (facts, others) = (Exchange(Noon), Exchange(Noon.AddSeconds(1)));
        await _schema.Store.Audit.AppendAsync([.. facts, .. others], cancellationToken);
        var message = facts[0].MessageId;
        await _schema.Store.Audit.AppendAsync([SomeFacts.Fact(AuditKind.Erased, message, time: Noon.AddHours(1))], cancellationToken);

        var erased = await _schema.Store.Eraser.EraseBodiesAsync(message, cancellationToken);
        var late = Exchange(Noon.AddMinutes(30), message); // waited on another host
        await _schema.Store.Audit.AppendAsync(late, cancellationToken);

        var left = await _schema
            .Store.Audit.FindAsync(new AuditQuery { MessageId = message }, cancellationToken)
            .ToListAsync(cancellationToken);
        var untouched = await _schema
            .Store.Audit.FindAsync(new AuditQuery { MessageId = others[0].MessageId }, cancellationToken)
            .ToListAsync(cancellationToken);
        await _schema.StopAsync();
        var verdict = await VerifyAsync();
        Assert.That(erased, Is.EqualTo(2));
        Assert.That(left.Select(fact => fact.Body.HasValue), Is.All.False);
        Assert.That(left.Count(fact => fact.BodyState == AuditBodyState.Erased), Is.EqualTo(4));
        Assert.That(untouched.Count(fact => fact.Body is { Length: > 0 }), Is.EqualTo(2));
        Assert.That((verdict.TotalBreaks, verdict.Erased), Is.EqualTo((0L, 4L)));
    }

    [Test, CancelAfter(60_000)]
    public async Task Shared_rows_go_to_an_archive_fact_by_fact_and_come_back(CancellationToken cancellationToken)
    {
        var facts = Enumerable.Range(0, 50).SelectMany(number => Exchange(Noon.AddSeconds(number))).ToList();
        await _schema.Store.Audit.AppendAsync(facts, cancellationToken);
        await _schema.StopAsync();
        var folder = Path.Combine(_schema.Config.Folder, "archive");
        await using var archive = OpenArchive();

        var days = new List<ArchivedDay>();
        var broken = await archive.WriteAsync(Day.AddDays(1), folder, drop: true, days.Add, cancellationToken);
        var file = await archive.VerifyAsync(days.Single().File, static _ => { }, cancellationToken);
        var restored = await archive.RestoreAsync(days[0].File, cancellationToken);
        var again = await archive.RestoreAsync(days[0].File, cancellationToken);

        Assert.That((broken, days[0].Facts, days[0].IsDropped), Is.EqualTo(((AuditVerdict?)null, 150L, true)));
        Assert.That(file is { Facts: 150, Anchors: > 0, TotalBreaks: 0 }, Is.True);
        Assert.That((restored.Added, again.Added), Is.EqualTo((150L, 0L)));
        Assert.That((await VerifyAsync()) is { Facts: 150, TotalBreaks: 0 }, Is.True);
    }

    [Test, CancelAfter(60_000)]
    public async Task Archive_adds_nothing_to_shared_rows_that_are_still_there(CancellationToken cancellationToken)
    {
        await _schema.Store.Audit.AppendAsync(Exchange(Noon), cancellationToken);
        await _schema.StopAsync();
        await using var archive = OpenArchive();
        var days = new List<ArchivedDay>();
        await archive.WriteAsync(Day.AddDays(1), Path.Combine(_schema.Config.Folder, "archive"), drop: false, days.Add, cancellationToken);

        var restored = await archive.RestoreAsync(days.Single().File, cancellationToken);

        Assert.That((restored.Facts, restored.Added), Is.EqualTo((3L, 0L)));
    }

    private static List<AuditFact> Exchange(DateTimeOffset time, Guid? message = null)
    {
        var id = message ?? Guid.CreateVersion7();
        AuditFact Fact(AuditKind kind, int milliseconds, params (string, string)[] fields) =>
            SomeFacts.Fact(kind, id, time: time.AddMilliseconds(milliseconds).AddTicks(7), fields: fields) with
            {
                Endpoint = "orders",
                Process = "receive-order",
                Host = "shop-1/4711",
                Revision = "9f2c",
            };
        return
        [
            Fact(AuditKind.Received, 0, ("order", "A-1"), ("method", "POST")) with
            {
                Headers = new Dictionary<string, string> { ["z"] = "1", ["a"] = "2" },
                Body = new byte[200],
                BodyState = AuditBodyState.Whole,
            },
            Fact(AuditKind.Published, 5) with
            {
                Subject = "orders.accepted",
                Duration = TimeSpan.FromTicks(1234567),
            },
            Fact(AuditKind.Replied, 900, ("order", "A-1"), ("status", "200")) with
            {
                Body = "done"u8.ToArray(),
                BodyState = AuditBodyState.Whole,
            },
        ];
    }

    private AuditArchive OpenArchive() => new(_schema.Config, _schema.Evidence, readOnly: false, TimeProvider.System, NullLogger.Instance);

    private StoreReader Read() =>
        StoreReader.Open(_schema.Config, new StoreReading(Configuration: null, _schema.Evidence), NullLogger.Instance);

    private async Task<long> RowsAsync() => (await _schema.QueryAsync<long>("select count(*) from audit_event")).Single();

    private async Task<AuditVerdict> VerifyAsync()
    {
        await using var reader = Read();
        return await reader.Evidence!.VerifyAsync(null, null, static _ => { }, default);
    }
}
