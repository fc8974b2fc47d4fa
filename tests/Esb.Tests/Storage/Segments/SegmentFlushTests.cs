using System.Text;
using Esb.Storage.Segments;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Win32.SafeHandles;

namespace Esb.Tests.Storage.Segments;

/// <summary>Records that are written first and flushed behind: what a kill, a power cut, a slow disk and a broken one leave of
/// them.</summary>
[CancelAfter(60_000)]
public sealed class SegmentFlushTests
{
    private static readonly TimeSpan Never = Timeout.InfiniteTimeSpan;

    private string _folder = null!;
    private int _flushes;

    [SetUp]
    public void CreateFolder()
    {
        _folder = Directory.CreateTempSubdirectory("esb-").FullName;
        _flushes = 0;
    }

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_folder, recursive: true);

    [Test, Property("Case", "T-AUD-5")]
    public async Task Record_that_is_written_only_is_there_after_a_kill_and_maybe_not_after_a_power_cut(CancellationToken cancellationToken)
    {
        await using var log = Open(Never);
        await log.AppendAsync(Record("flushed"), SegmentDurability.Flushed, cancellationToken);
        await log.AppendAsync(Record("written"), SegmentDurability.Written, cancellationToken);

        var (afterKill, afterCut) = (CopyAs("kill", upTo: null), CopyAs("cut", log.Committed));

        Assert.That((await ReopenAsync(afterKill), _flushes), Is.EqualTo((new[] { "flushed", "written" }, 1)));
        Assert.That(await ReopenAsync(afterCut), Is.EqualTo(new[] { "flushed" }));
        Assert.That(Directory.Exists(Path.Combine(afterCut, SegmentRecovery.QuarantineFolder)), Is.False, "nothing is damaged");
    }

    [Test]
    public async Task Record_that_is_written_only_is_flushed_soon_though_nothing_follows(CancellationToken cancellationToken)
    {
        await using var log = Open(TimeSpan.FromMilliseconds(50));

        await log.AppendAsync(Record("one"), SegmentDurability.Written, cancellationToken);

        await Eventually.HoldsAsync(() => log.Committed == log.Written, "the flush", cancellationToken);
        Assert.That(_flushes, Is.EqualTo(1));
    }

    [Test]
    public async Task Many_records_that_are_written_only_share_a_flush(CancellationToken cancellationToken)
    {
        await using var log = Open(TimeSpan.FromMinutes(10));

        for (var i = 0; i < 200; i++)
            await log.AppendAsync(Record("one"), SegmentDurability.Written, cancellationToken);
        var before = _flushes;
        await log.AppendAsync(Record("last"), SegmentDurability.Flushed, cancellationToken);

        Assert.That((before, _flushes, log.Committed == log.Written), Is.EqualTo((0, 1, true)));
    }

    [Test]
    public async Task Closing_flushes_what_is_written_only(CancellationToken cancellationToken)
    {
        SegmentLog log;
        await using (log = Open(Never))
            await log.AppendAsync(Record("one"), SegmentDurability.Written, cancellationToken);

        Assert.That((_flushes, log.Committed), Is.EqualTo((1, log.Written)));
        Assert.That(await ReopenAsync(CopyAs("cut", log.Committed)), Is.EqualTo(new[] { "one" }));
    }

    [Test]
    public async Task Slow_flush_delays_those_who_wait_for_it_and_no_others(CancellationToken cancellationToken)
    {
        using var disk = new ManualResetEventSlim();
        await using var log = Open(Never, _ => disk.Wait(cancellationToken));
        var accepted = log.AppendAsync(Record("accepted"), SegmentDurability.Flushed, cancellationToken);

        for (var i = 0; i < 50; i++)
            await log.AppendAsync(Record("answered"), SegmentDurability.Written, cancellationToken);
        var isDelayed = !accepted.IsCompleted;
        disk.Set();
        await accepted;

        Assert.That(isDelayed, "only the flush completes it");
    }

    [Test]
    public async Task Failed_flush_is_told_to_those_who_wait_and_what_others_count_on_is_written_again(CancellationToken cancellationToken)
    {
        var isBroken = false;
        await using (var log = Open(TimeSpan.FromMilliseconds(50), _ => ThrowIf(isBroken)))
        {
            await log.AppendAsync(Record("before"), SegmentDurability.Flushed, cancellationToken);
            isBroken = true;
            await log.AppendAsync(Record("answered 1"), SegmentDurability.Written, cancellationToken);
            Assert.That(
                () => log.AppendAsync(Record("refused"), SegmentDurability.Flushed, cancellationToken),
                Throws.InstanceOf<IOException>()
            );
            Assert.That(log.Trouble, Is.Not.Null);
            await log.AppendAsync(Record("answered 2"), SegmentDurability.Written, cancellationToken);
            isBroken = false;
            await Eventually.HoldsAsync(() => log.Committed == log.Written && log.Committed.Segment > 1, "the rescue", cancellationToken);
        }

        var kept = Read(_folder);
        Assert.That(kept, Is.EquivalentTo(new[] { "before", "answered 1", "answered 2" }));
        Assert.That(kept[0], Is.EqualTo("before"));
    }

    [Test]
    public async Task Segments_that_end_unflushed_are_flushed_with_the_next(CancellationToken cancellationToken)
    {
        await using var log = Open(Never, maxSegmentBytes: 100);
        for (var i = 0; i < 30; i++)
            await log.AppendAsync(Record($"record {i}"), SegmentDurability.Written, cancellationToken);
        var segments = SegmentFile.List(_folder).Count;

        await log.AppendAsync(Record("last"), SegmentDurability.Flushed, cancellationToken);

        Assert.That((segments > 2, _flushes >= segments), Is.EqualTo((true, true)), "each file on its own");
        Assert.That(Read(_folder), Has.Count.EqualTo(31));
    }

    [Test]
    public async Task Many_callers_of_both_sorts_lose_nothing_and_double_nothing(CancellationToken cancellationToken)
    {
        var random = new Random(1);
        var numbers = Enumerable
            .Range(0, 3000)
            .Select(number => (number, Durability: random.Next(3) == 0 ? SegmentDurability.Flushed : SegmentDurability.Written))
            .ToList();
        await using (var log = Open(TimeSpan.FromMilliseconds(1), maxSegmentBytes: 10_000))
            await Task.WhenAll(
                numbers.Select(one =>
                    Task.Run(() => log.AppendAsync(Record($"{one.number}"), one.Durability, cancellationToken), cancellationToken)
                )
            );

        Assert.That(Read(_folder).Select(int.Parse), Is.EquivalentTo(Enumerable.Range(0, 3000)));
    }

    private SegmentLog Open(TimeSpan delay, Action<SafeFileHandle>? flush = null, long maxSegmentBytes = 1 << 20) =>
        SegmentLog.Open(
            _folder,
            new SegmentOptions(maxSegmentBytes) { FlushDelay = delay, Flush = file => Flush(file, flush) },
            NullLogger.Instance
        );

    private void Flush(SafeFileHandle file, Action<SafeFileHandle>? instead)
    {
        Interlocked.Increment(ref _flushes);
        (instead ?? RandomAccess.FlushToDisk)(file);
    }

    private static void ThrowIf(bool isBroken)
    {
        if (isBroken)
            throw new IOException("The disk is broken.");
    }

    // The folder as a kill leaves it, or a power cut that takes all that was not flushed.
    private string CopyAs(string name, SegmentPosition? upTo)
    {
        var copy = Directory.CreateDirectory(Path.Combine(_folder, name)).FullName;
        foreach (var segment in SegmentFile.List(_folder).Where(segment => upTo is null || segment.Number <= upTo.Segment))
        {
            var bytes = File.ReadAllBytes(segment.Path);
            if (segment.Number == upTo?.Segment)
                bytes = bytes[..(int)upTo.Offset];
            File.WriteAllBytes(new SegmentFile(copy, segment.Number).Path, bytes);
        }

        return copy;
    }

    private static async Task<IReadOnlyList<string>> ReopenAsync(string folder)
    {
        await using (SegmentLog.Open(folder, SegmentOptions.Default, NullLogger.Instance)) { }

        return Read(folder);
    }

    private static List<string> Read(string folder) =>
        [
            .. new SegmentReader(folder, committed: null, NullLogger.Instance)
                .ReadNew()
                .Select(record => Encoding.UTF8.GetString(record.Payload.Span)),
        ];

    private static SegmentEntry Record(string text) => new(Encoding.UTF8.GetBytes(text));
}
