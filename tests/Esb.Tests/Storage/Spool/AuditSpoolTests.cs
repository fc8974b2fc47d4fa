using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Storage.Files;
using Esb.Storage.Segments;
using Esb.Storage.Spool;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.Tests.Storage.Spool;

public sealed class AuditSpoolTests
{
    private string _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-").FullName;

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_folder, recursive: true);

    [Test, CancelAfter(30_000)]
    public async Task What_was_not_forgotten_is_there_after_a_restart(CancellationToken cancellationToken)
    {
        var facts = Enumerable.Range(0, 5).Select(_ => SomeFacts.Fact()).ToList();
        await using (var spool = Open())
        {
            foreach (var fact in facts)
                await spool.AppendAsync(fact, cancellationToken);
            await spool.PeekAsync(2, cancellationToken);
            await spool.ForgetAsync(cancellationToken);
            await spool.PeekAsync(2, cancellationToken);
        }

        await using var restarted = Open();
        var rest = await restarted.PeekAsync(100, cancellationToken);
        Assert.That(restarted.Length, Is.EqualTo(3));
        Assert.That(rest.Select(fact => fact.Id), Is.EqualTo(facts.Skip(2).Select(fact => fact.Id)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Time_of_the_oldest_fact_is_known_once_somebody_has_looked_and_until_none_waits(CancellationToken cancellationToken)
    {
        var noon = new DateTimeOffset(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);
        await using var spool = Open();
        var times = new List<DateTimeOffset?> { spool.Oldest };
        for (var minute = 0; minute < 4; minute++)
            await spool.AppendAsync(SomeFacts.Fact() with { Time = noon.AddMinutes(minute) }, cancellationToken);
        for (var look = 0; look < 2; look++)
        {
            await spool.PeekAsync(2, cancellationToken);
            times.Add(spool.Oldest);
            await spool.ForgetAsync(cancellationToken);
        }

        Assert.That(times.Append(spool.Oldest), Is.EqualTo(new DateTimeOffset?[] { null, noon, noon.AddMinutes(2), null }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Looking_waits_until_there_is_a_fact(CancellationToken cancellationToken)
    {
        await using var spool = Open();
        var looking = spool.PeekAsync(10, cancellationToken);
        var fact = SomeFacts.Fact();

        Assert.That(looking.IsCompleted, Is.False);
        await spool.AppendAsync(fact, cancellationToken);

        Assert.That((await looking).Single().Id, Is.EqualTo(fact.Id));
    }

    [Test, CancelAfter(30_000)]
    public async Task Segments_that_were_moved_are_deleted(CancellationToken cancellationToken)
    {
        await using var spool = Open();
        for (var number = 0; number < 50; number++)
            await spool.AppendAsync(SomeFacts.Fact(), cancellationToken);
        var before = SegmentFile.List(_folder).Count;

        await spool.PeekAsync(50, cancellationToken);
        await spool.ForgetAsync(cancellationToken);

        Assert.That(before, Is.GreaterThan(2));
        Assert.That(SegmentFile.List(_folder), Has.Count.EqualTo(1));
        Assert.That(spool.Length, Is.Zero);
    }

    [TestCase("nonsense")]
    [TestCase("")]
    [TestCase("99 5000")]
    [TestCase("1 999999")]
    [CancelAfter(30_000)]
    public async Task A_position_that_cannot_be_right_means_from_the_start(string position, CancellationToken cancellationToken)
    {
        var fact = SomeFacts.Fact();
        await using (var spool = Open())
            await spool.AppendAsync(fact, cancellationToken);
        await File.WriteAllTextAsync(Path.Combine(_folder, "moved"), position, cancellationToken);

        await using var restarted = Open();

        Assert.That((await restarted.PeekAsync(10, cancellationToken)).Single().Id, Is.EqualTo(fact.Id));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_refused_fact_is_kept_aside(CancellationToken cancellationToken)
    {
        var fact = SomeFacts.Fact();
        await using (var spool = Open())
            await spool.QuarantineAsync(fact, cancellationToken);

        Assert.That(ReadRefused().Select(payload => StoredFact.Read(payload).Single().Id), Is.EqualTo([fact.Id]));
    }

    [TestCase(false)]
    [TestCase(true)]
    [CancelAfter(30_000)]
    public async Task A_fact_that_is_refused_after_those_before_it_were_deleted_is_kept_aside_too(
        bool withFolder,
        CancellationToken cancellationToken
    )
    {
        var (first, second) = (SomeFacts.Fact(), SomeFacts.Fact());
        var refused = Path.Combine(_folder, "refused");
        await using (var spool = Open())
        {
            await spool.QuarantineAsync(first, cancellationToken);
            if (withFolder)
                Directory.Delete(refused, recursive: true);
            else
                foreach (var segment in SegmentFile.List(refused))
                    segment.Delete();
            await spool.QuarantineAsync(second, cancellationToken);
        }

        Assert.That(ReadRefused().Select(payload => StoredFact.Read(payload).Single().Id), Is.EqualTo([second.Id]));
    }

    [TestCase(4 << 20)]
    [TestCase(0)]
    [CancelAfter(30_000)]
    public async Task Bodies_that_are_small_only_while_they_are_packed_come_a_few_at_a_time(
        int tailBytes,
        CancellationToken cancellationToken
    )
    {
        var facts = Enumerable.Range(0, 40).Select(_ => SomeFacts.Fact() with { Body = new byte[1 << 20] }).ToList();
        await using var spool = Open(tailBytes);
        foreach (var fact in facts)
            await spool.AppendAsync(fact, cancellationToken);

        var groups = new List<IReadOnlyList<AuditFact>>();
        while (spool.Length > 0)
        {
            groups.Add(await spool.PeekAsync(1000, cancellationToken));
            await spool.ForgetAsync(cancellationToken);
        }

        Assert.That(groups.Select(group => group.Count), Is.All.InRange(1, 17));
        Assert.That(groups.SelectMany(group => group).Select(fact => fact.Id), Is.EqualTo(facts.Select(fact => fact.Id)));
    }

    [Test, CancelAfter(30_000)]
    public async Task What_a_later_version_wrote_is_put_aside_as_it_is_and_counts_no_more(CancellationToken cancellationToken)
    {
        var (first, last) = (SomeFacts.Fact(), SomeFacts.Fact());
        var later = AsOfLaterVersion(StoredFact.Write(SomeFacts.Fact()));
        await using (var written = SegmentLog.Open(_folder, new SegmentOptions(MaxSegmentBytes: 1000), NullLogger.Instance))
        {
            foreach (var payload in new[] { StoredFact.Write(first), later, StoredFact.Write(last), later })
                await written.AppendAsync(new SegmentEntry(payload), cancellationToken);
        }

        await using (var spool = Open())
        {
            spool.Open();
            var facts = await spool.PeekAsync(10, cancellationToken);
            Assert.That(facts.Select(fact => fact.Id), Is.EqualTo([first.Id, last.Id]));
            await spool.ForgetAsync(cancellationToken);
            Assert.That(spool.Length, Is.Zero);
        }

        Assert.That(ReadRefused(), Is.EqualTo([later, later]));
    }

    [Test, CancelAfter(30_000)]
    public async Task Where_only_a_later_version_wrote_there_is_nothing_to_move_and_then_the_next_fact_is_waited_for(
        CancellationToken cancellationToken
    )
    {
        await using (var written = SegmentLog.Open(_folder, new SegmentOptions(MaxSegmentBytes: 1000), NullLogger.Instance))
            await written.AppendAsync(new SegmentEntry(AsOfLaterVersion(StoredFact.Write(SomeFacts.Fact()))), cancellationToken);

        await using var spool = Open();
        Assert.That(await spool.PeekAsync(10, cancellationToken), Is.Empty);
        await spool.ForgetAsync(cancellationToken);
        var looking = spool.PeekAsync(10, cancellationToken);
        var fact = SomeFacts.Fact();
        await spool.AppendAsync(fact, cancellationToken);

        Assert.That((await looking).Single().Id, Is.EqualTo(fact.Id));
        Assert.That(ReadRefused(), Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task Folder_that_is_gone_for_a_moment_loses_nothing(CancellationToken cancellationToken)
    {
        await using var spool = Open(tailBytes: 0);
        var facts = Enumerable.Range(0, 50).Select(_ => SomeFacts.Fact()).ToList();
        foreach (var fact in facts)
            await spool.AppendAsync(fact, cancellationToken);
        var elsewhere = $"{_folder}-elsewhere";
        Directory.Move(_folder, elsewhere);
        Directory.CreateDirectory(_folder); // as the place of a volume that is not mounted

        Assert.ThrowsAsync<IOException>(() => spool.PeekAsync(50, cancellationToken));
        Directory.Delete(_folder, recursive: true);
        Directory.Move(elsewhere, _folder);

        Assert.That((await spool.PeekAsync(50, cancellationToken)).Select(fact => fact.Id), Is.EqualTo(facts.Select(fact => fact.Id)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Facts_come_from_memory_while_their_reader_keeps_up(CancellationToken cancellationToken)
    {
        await using var spool = Open();
        var fact = SomeFacts.Fact();
        await spool.AppendAsync(fact, cancellationToken);

        Assert.That((await spool.PeekAsync(10, cancellationToken)).Single(), Is.SameAs(fact), "nothing was read or parsed");
    }

    [TestCase(0)]
    [TestCase(1_000)]
    [TestCase(8_000)]
    [CancelAfter(120_000)]
    public async Task Facts_come_in_order_and_once_each_from_segments_and_memory(int tailBytes, CancellationToken cancellationToken)
    {
        await using var spool = Open(tailBytes);
        var facts = Enumerable.Range(0, 400).Select(_ => SomeFacts.Fact()).ToList();
        var read = new List<Guid>();
        var appended = 0;
        foreach (var step in new[] { 60, 1, 90, 3, 3, 200, 43 }) // the reader lags, and catches up in between
        {
            foreach (var fact in facts.Skip(appended).Take(step))
                await spool.AppendAsync(fact, cancellationToken);
            appended += step;
            for (var looks = 0; looks < 2 || (appended == 400 && spool.Length > 0); looks++)
            {
                if (spool.Length == 0)
                    break;
                read.AddRange((await spool.PeekAsync(30, cancellationToken)).Select(fact => fact.Id));
                await spool.ForgetAsync(cancellationToken);
            }
        }

        Assert.That(read, Is.EqualTo(facts.Select(fact => fact.Id)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Facts_of_many_recorders_are_read_while_they_are_recorded(CancellationToken cancellationToken)
    {
        await using var spool = Open(tailBytes: 2_000);
        var recording = Task.WhenAll(
            Enumerable
                .Range(0, 8)
                .Select(_ =>
                    Task.Run(
                        async () =>
                        {
                            for (var i = 0; i < 25; i++)
                                await spool.AppendAsync(SomeFacts.Fact(), cancellationToken);
                        },
                        cancellationToken
                    )
                )
        );
        var read = new List<Guid>();
        while (read.Count < 200)
        {
            await spool.WaitAsync(cancellationToken);
            read.AddRange((await spool.PeekAsync(17, cancellationToken)).Select(fact => fact.Id));
            await spool.ForgetAsync(cancellationToken);
        }

        await recording;
        Assert.That((read.Count, read.Distinct().Count(), spool.Length), Is.EqualTo((200, 200, 0)));
    }

    [TestCase(0)]
    [TestCase(4 << 20)]
    [CancelAfter(30_000)]
    public async Task Facts_of_one_record_come_together_and_once_they_are_flushed(int tailBytes, CancellationToken cancellationToken)
    {
        await using var spool = Open(tailBytes);
        AuditFact[] first = [SomeFacts.Fact(), SomeFacts.Fact(), SomeFacts.Fact()],
            second = [SomeFacts.Fact(), SomeFacts.Fact()];
        await spool.AppendAsync(first, AuditDurability.Written, cancellationToken);
        await spool.AppendAsync(second, AuditDurability.Written, cancellationToken);
        var length = spool.Length;

        var read = new List<Guid[]>();
        while (spool.Length > 0)
        {
            read.Add([.. (await spool.PeekAsync(1, cancellationToken)).Select(fact => fact.Id)]);
            await spool.ForgetAsync(cancellationToken);
        }

        Assert.That(length, Is.EqualTo(5));
        Assert.That(read, Is.EqualTo(new[] { first.Select(fact => fact.Id), second.Select(fact => fact.Id) }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Full_spool_takes_nothing_until_it_was_moved(CancellationToken cancellationToken)
    {
        await using var spool = Open(maxBytes: 100_000);
        var kept = 0;
        EsbException? refused = null;
        while (refused is null)
        {
            try
            {
                await spool.AppendAsync(SomeFacts.Fact(), cancellationToken);
                kept++;
            }
            catch (EsbException ex)
            {
                refused = ex;
            }
        }

        Assert.That((refused.Code, refused.IsTransient), Is.EqualTo(("ESB-AUD-FULL", true)));
        Assert.That(spool.Bytes, Is.LessThanOrEqualTo(spool.MaxBytes).And.GreaterThan(spool.MaxBytes * 0.9));
        Assert.That((await spool.PeekAsync(10_000, cancellationToken)).Count, Is.EqualTo(kept), "none was dropped");
        await spool.ForgetAsync(cancellationToken);
        await Eventually.HoldsAsync(() => spool.Bytes < spool.MaxBytes / 10, "segments that were moved count no more", cancellationToken);
        Assert.That(() => spool.AppendAsync(SomeFacts.Fact(), cancellationToken), Throws.Nothing);
    }

    [Test, CancelAfter(10_000)]
    public async Task Waiting_ends_at_once_for_what_an_earlier_process_left(CancellationToken cancellationToken)
    {
        await using (var spool = Open())
            await spool.AppendAsync(SomeFacts.Fact(), cancellationToken);
        await using var restarted = Open();

        Assert.That(() => restarted.WaitAsync(cancellationToken), Throws.Nothing);
    }

    // With a kind of fact that this version does not know.
    private static byte[] AsOfLaterVersion(byte[] payload)
    {
        var kind = payload.AsSpan().IndexOf("\"Recorded\""u8);
        "\"Tomorrow\""u8.CopyTo(payload.AsSpan(kind));
        return payload;
    }

    private List<byte[]> ReadRefused() =>
        [
            .. new SegmentReader(Path.Combine(_folder, "refused"), committed: null, NullLogger.Instance)
                .ReadNew()
                .Select(record => record.Payload.ToArray()),
        ];

    private AuditSpool Open(int tailBytes = 4 << 20, long maxBytes = 1 << 20) =>
        new(
            _folder,
            new SpoolOptions(maxBytes, new SegmentOptions(MaxSegmentBytes: 1000)) { TailBytes = tailBytes },
            TimeProvider.System,
            NullLogger.Instance
        );
}
