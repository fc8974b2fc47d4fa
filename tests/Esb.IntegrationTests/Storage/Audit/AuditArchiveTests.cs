using Dapper;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.IntegrationTests.Topics;
using Esb.Storage;
using Esb.Storage.Archives;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres;
using Esb.Tests.Storage;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage.Audit;

public sealed class AuditArchiveTests
{
    private static readonly DateTimeOffset Noon = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);
    private static readonly DateOnly Day = DateOnly.FromDateTime(Noon.UtcDateTime);

    private TestSchema _schema = null!;
    private string _folder = null!;

    [SetUp]
    public async Task Start()
    {
        _schema = await TestSchema.StartAsync();
        _folder = Path.Combine(_schema.Config.Folder, "archive");
        Directory.CreateDirectory(_schema.Evidence.Anchors!); // as of hosts before
    }

    [TearDown]
    public Task Remove() => _schema.DisposeAsync().AsTask();

    [Test, CancelAfter(60_000)]
    public async Task A_day_goes_to_a_file_and_comes_back_with_its_chain_however_often(CancellationToken cancellationToken)
    {
        var facts = Facts(1_100, Noon);
        await _schema.Store.Audit.AppendAsync([.. facts, .. Facts(5, Noon.AddDays(1))], cancellationToken);
        await _schema.StopAsync();

        var archived = await ArchiveAsync(drop: true, cancellationToken);
        Assert.That((archived.Single().Facts, archived.Single().IsDropped), Is.EqualTo((1_100L, true)));
        Assert.That(await _schema.QueryAsync<long>("select count(*) from audit_event"), Is.EqualTo([5L]));
        Assert.That((await VerifyAsync(cancellationToken)).Breaks, Is.Empty, "a day that was archived is not missed");

        await using var archive = Open();
        var file = archived.Single().File;
        Assert.That(
            (await archive.VerifyAsync(file, static _ => { }, cancellationToken)) is { Facts: 1_100, Anchors: > 0, TotalBreaks: 0 },
            Is.True
        );
        var restored = await archive.RestoreAsync(file, cancellationToken);
        var again = await archive.RestoreAsync(file, cancellationToken);

        Assert.That((restored.Added, again.Added, again.Facts), Is.EqualTo((1_100L, 0L, 1_100L)));
        Assert.That((await VerifyAsync(cancellationToken)) is { Facts: 1_105, TotalBreaks: 0 }, Is.True);
        await using var reader = StoreReader.Open(
            _schema.Config,
            new StoreReading(Configuration: null, _schema.Evidence),
            NullLogger.Instance
        );
        var found = (await reader.Audit.GetJourneyAsync(facts[7].MessageId, cancellationToken)).Single();
        Assert.That(found.Body!.Value.ToArray(), Is.EqualTo(facts[7].Body!.Value.ToArray()));
        Assert.That(
            await reader.Audit.FindAsync(new AuditQuery { Where = facts[7].Fields }, cancellationToken).CountAsync(cancellationToken),
            Is.EqualTo(1)
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_day_that_was_changed_is_neither_written_nor_dropped(CancellationToken cancellationToken)
    {
        await _schema.Store.Audit.AppendAsync(Facts(10, Noon), cancellationToken);
        await _schema.StopAsync();
        await _schema.QueryAsync<int>("update audit_event set reason = 'nothing' where number = 4");

        await using var archive = Open();
        var broken = await archive.WriteAsync(
            Day.AddDays(1),
            _folder,
            drop: true,
            static _ => Assert.Fail("It was archived."),
            cancellationToken
        );

        Assert.That((broken!.TotalBreaks, broken.Breaks[0].From), Is.EqualTo((1L, 4L)));
        Assert.That(Directory.EnumerateFiles(_folder), Is.Empty);
        Assert.That(await _schema.QueryAsync<long>("select count(*) from audit_event"), Is.EqualTo([10L]));
    }

    [Test, CancelAfter(60_000)]
    public async Task Facts_that_come_after_their_day_was_dropped_are_added_to_its_file(CancellationToken cancellationToken)
    {
        await _schema.Store.Audit.AppendAsync(Facts(100, Noon), cancellationToken);
        await _schema.StopAsync();
        await ArchiveAsync(drop: true, cancellationToken);
        var late = await _schema.ReopenAsync();
        await late.Audit.AppendAsync(Facts(3, Noon.AddHours(1)), cancellationToken); // of a host that was cut off
        await _schema.StopAsync();

        var archived = (await ArchiveAsync(drop: true, cancellationToken)).Single();
        await using var archive = Open();
        var verdict = await archive.VerifyAsync(archived.File, static _ => { }, cancellationToken);

        Assert.That((archived.Facts, archived.IsDropped), Is.EqualTo((103L, true)));
        Assert.That((verdict.Facts, verdict.TotalBreaks), Is.EqualTo((103L, 0L)));
        Assert.That((await VerifyAsync(cancellationToken)).Breaks, Is.Empty);
        Assert.That((await archive.RestoreAsync(archived.File, cancellationToken)).Added, Is.EqualTo(103));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_host_that_was_cut_off_while_a_day_was_dropped_does_not_take_its_numbers_again(CancellationToken cancellationToken)
    {
        await using (
            var host = new PostgresStore(
                _schema.Config with
                {
                    Folder = Path.Combine(_schema.Config.Folder, "other"),
                },
                _schema.Evidence with
                {
                    AnchorInterval = TimeSpan.FromMilliseconds(50),
                },
                TimeProvider.System,
                NullLogger<PostgresStore>.Instance
            )
        )
        {
            await host.StartAsync(cancellationToken);
            await host.Audit.AppendAsync(Facts(100, Noon), cancellationToken);
            await Eventually.HoldsAsync(
                () => Directory.EnumerateFiles(_schema.Evidence.Anchors!).Any(file => new FileInfo(file).Length > 0),
                cancellationToken
            );
            await ArchiveAsync(drop: true, cancellationToken);
            await host.Audit.AppendAsync(Facts(3, Noon.AddHours(1)), cancellationToken); // from its spool
        }

        await using var archive = Open();
        var file = Directory.EnumerateFiles(_folder).Single();
        Assert.That(
            (await archive.VerifyAsync(file, static _ => { }, cancellationToken)) is { Facts: 100, Anchors: > 0, TotalBreaks: 0 },
            Is.True,
            "the file is as whole as it was"
        );
        var earlier = await File.ReadAllBytesAsync(file, cancellationToken);

        var archived = (await ArchiveAsync(drop: true, cancellationToken)).Single();

        Assert.That((archived.Facts, archived.IsDropped), Is.EqualTo((103L, true)));
        Assert.That((await archive.VerifyAsync(archived.File, static _ => { }, cancellationToken)).TotalBreaks, Is.Zero);
        Assert.That((await archive.RestoreAsync(archived.File, cancellationToken)).Added, Is.EqualTo(103));

        await File.WriteAllBytesAsync(file, earlier, cancellationToken);
        Assert.That(
            (await archive.VerifyAsync(file, static _ => { }, cancellationToken)).Breaks.Select(found => found.Problem),
            Has.Some.Contains("missing at the end"),
            "it may not take the place of the later one"
        );
    }

    [Test, CancelAfter(60_000)]
    public async Task A_body_that_was_erased_is_not_missed_when_the_fact_that_tells_of_it_is_gone(CancellationToken cancellationToken)
    {
        var file = await ArchiveErasedAsync(cancellationToken);
        await _schema.QueryAsync<int>("delete from audit_event where kind = 'Erased'"); // its time was over, too
        await using var archive = Open();

        var verdict = await archive.VerifyAsync(file, static _ => { }, cancellationToken);
        await _schema.Store.Audit.AppendAsync(Facts(1, Noon.AddHours(2)), cancellationToken); // for which the file is taken back
        var again = (await ArchiveAsync(drop: true, cancellationToken)).Single();

        Assert.That((verdict.Facts, verdict.Erased, verdict.TotalBreaks), Is.EqualTo((10L, 1L, 0L)));
        Assert.That((again.Facts, again.IsDropped), Is.EqualTo((11L, true)));
        Assert.That((await archive.VerifyAsync(file, static _ => { }, cancellationToken)).TotalBreaks, Is.Zero);
    }

    [Test, CancelAfter(60_000)]
    public async Task A_file_that_somebody_took_a_body_out_of_does_not_prove_that_it_was_erased(CancellationToken cancellationToken)
    {
        var file = await ArchiveErasedAsync(cancellationToken);
        await _schema.QueryAsync<int>("delete from audit_event where kind = 'Erased'");
        var changed = (await ArchiveFile.ReadAsync(file, cancellationToken).ToListAsync(cancellationToken)).Select(fact =>
            fact with
            {
                Fact = fact.Fact! with { Body = null },
            }
        );
        await ArchiveFile.WriteAsync(
            file,
            await ArchiveFile.ReadHeaderAsync(file, cancellationToken),
            changed.ToAsyncEnumerable(),
            least: 0,
            cancellationToken
        );
        await using var archive = Open();

        Assert.That((await archive.VerifyAsync(file, static _ => { }, cancellationToken)).TotalBreaks, Is.EqualTo(10));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_day_that_could_not_be_dropped_is_still_answered_for(CancellationToken cancellationToken)
    {
        await _schema.Store.Audit.AppendAsync(Facts(10, Noon), cancellationToken);
        await _schema.StopAsync();
        await using var backup = new NpgsqlConnection(_schema.Config.Connection + $";Search Path={_schema.Config.Schema}");
        await backup.OpenAsync(cancellationToken);
        await using (await backup.BeginTransactionAsync(cancellationToken))
        {
            await backup.ExecuteAsync("lock table audit_event in access share mode");
            Assert.CatchAsync<EsbException>(() => ArchiveAsync(drop: true, cancellationToken));
        }

        await _schema.QueryAsync<int>("delete from audit_event where number = 10");

        Assert.That((await VerifyAsync(cancellationToken)).Breaks.Select(found => found.Problem), Has.Some.Contains("missing at the end"));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_file_is_not_replaced_by_one_with_less(CancellationToken cancellationToken)
    {
        var file = Path.Combine(Directory.CreateDirectory(_folder).FullName, "audit.jsonl.gz");
        await File.WriteAllTextAsync(file, "as it was", cancellationToken);

        Assert.That(
            () =>
                ArchiveFile.WriteAsync(
                    file,
                    new ArchiveHeader { Day = Day, WrittenAt = Noon },
                    AsyncEnumerable.Empty<StoredLink>(),
                    least: 1,
                    cancellationToken
                ),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-AUD-ARCHIVE")
        );
        Assert.That(await File.ReadAllTextAsync(file, cancellationToken), Is.EqualTo("as it was"));
        Assert.That(Directory.EnumerateFiles(_folder), Is.EqualTo([file]));
    }

    [Test, CancelAfter(60_000)]
    public async Task An_archive_that_is_damaged_is_not_restored(CancellationToken cancellationToken)
    {
        await _schema.Store.Audit.AppendAsync(Facts(10, Noon), cancellationToken);
        await _schema.StopAsync();
        var file = (await ArchiveAsync(drop: true, cancellationToken)).Single().File;
        var bytes = await File.ReadAllBytesAsync(file, cancellationToken);
        bytes[bytes.Length / 2] ^= 1;
        await File.WriteAllBytesAsync(file, bytes, cancellationToken);

        await using var archive = Open();
        Assert.That(() => archive.RestoreAsync(file, cancellationToken), Throws.TypeOf<InvalidDataException>());
        Assert.That(await _schema.QueryAsync<long>("select count(*) from audit_event"), Is.EqualTo([0L]));
    }

    private static List<AuditFact> Facts(int count, DateTimeOffset time) =>
        [
            .. Enumerable
                .Range(0, count)
                .Select(number =>
                    SomeFacts.Fact(time: time.AddTicks(number * 10), fields: [("order", $"A-{number}")]) with
                    {
                        Body = new byte[number + 1],
                    }
                ),
        ];

    // Ten facts of one day, the body of one of which was erased on the day after; the day is let go.
    private async Task<string> ArchiveErasedAsync(CancellationToken cancellationToken)
    {
        var facts = Facts(10, Noon);
        await _schema.Store.Audit.AppendAsync(facts, cancellationToken);
        await _schema.Store.Audit.AppendAsync(
            [SomeFacts.Fact(AuditKind.Erased, facts[4].MessageId, time: Noon.AddDays(1))],
            cancellationToken
        );
        Assert.That(await _schema.Store.Eraser.EraseBodiesAsync(facts[4].MessageId, cancellationToken), Is.EqualTo(1));
        return (await ArchiveAsync(drop: true, cancellationToken)).Single().File;
    }

    private AuditArchive Open() => new(_schema.Config, _schema.Evidence, readOnly: false, TimeProvider.System, NullLogger.Instance);

    private async Task<List<ArchivedDay>> ArchiveAsync(bool drop, CancellationToken cancellationToken)
    {
        await using var archive = Open();
        var days = new List<ArchivedDay>();
        Assert.That(await archive.WriteAsync(Day.AddDays(1), _folder, drop, days.Add, cancellationToken), Is.Null);
        return days;
    }

    private async Task<AuditVerdict> VerifyAsync(CancellationToken cancellationToken)
    {
        await using var reader = StoreReader.Open(
            _schema.Config,
            new StoreReading(Configuration: null, _schema.Evidence),
            NullLogger.Instance
        );
        return await reader.Evidence!.VerifyAsync(null, null, static _ => { }, cancellationToken);
    }
}
