using System.Diagnostics;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Storage;
using Esb.Storage.DeadLetters;
using Esb.Storage.Files;
using Esb.Storage.Files.DeadLetters;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.Tests.Storage.Files;

public sealed class FileDeadLetterStoreTests
{
    private static readonly DateTimeOffset Start = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    private FileStoreConfig _config = null!;

    [SetUp]
    public void CreateFolder() => _config = new FileStoreConfig { Folder = Directory.CreateTempSubdirectory("esb-").FullName };

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_config.Folder, recursive: true);

    [Test, CancelAfter(30_000)]
    public async Task What_no_longer_counts_is_compacted_and_nothing_else_is_lost(CancellationToken cancellationToken)
    {
        var letters = Enumerable.Range(0, 20).Select(Letter).ToList();
        List<DeadLetterSummary> before;
        await using (var store = await OpenAsync(4_000, cancellationToken))
        {
            foreach (var letter in letters) await store.DeadLetters.AddAsync(letter, cancellationToken);
            await store.DeadLetters.DiscardAsync(new() { Ids = [letters[3].Id] }, new("ada", "paid"), 1, cancellationToken);
            for (var again = 1; again <= 30; again++) // the first ten come back over and over
            {
                foreach (var letter in letters.Take(10).Except([letters[3]])) await store.DeadLetters.AddAsync(letter with { LastAttempt = Start.AddHours(again) }, cancellationToken);
            }

            before = await FindAsync(store.DeadLetters, cancellationToken);
        }

        var written = SegmentFile.List(FileStore.Folders(_config).DeadLetters).Sum(segment => new FileInfo(segment.Path).Length);
        await using var reopened = await OpenAsync(4_000, cancellationToken);
        await using var reader = StoreReader.Open(_config, NullLogger.Instance);

        Assert.That(written, Is.LessThan(60_000), "290 records of a good 700 bytes were written");
        Assert.That(await FindAsync(reopened.DeadLetters, cancellationToken), Is.EqualTo(before));
        Assert.That(await FindAsync(reader.DeadLetters, cancellationToken), Is.EqualTo(before));
        Assert.That(before.Single(letter => letter.State == DeadLetterState.Discarded).Note, Is.EqualTo("paid"));
        foreach (var (number, letter) in letters.Index())
            Assert.That((await reopened.DeadLetters.GetAsync(letter.Id, cancellationToken))!.Letter.Message.Body.ReadText(), Is.EqualTo($"<order number='{number}'/>"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Removed_letters_leave_the_disk_and_never_come_back(CancellationToken cancellationToken)
    {
        var letters = Enumerable.Range(0, 40).Select(Letter).ToList();
        await using (var store = await OpenAsync(4_000, cancellationToken))
        {
            foreach (var letter in letters) await store.DeadLetters.AddAsync(letter, cancellationToken);
            for (var again = 1; again <= 3; again++) // older records of the same letters lie about
            {
                foreach (var letter in letters) await store.DeadLetters.AddAsync(letter with { LastAttempt = Start.AddHours(again) }, cancellationToken);
            }

            foreach (var letter in letters.Where((_, number) => number % 4 != 0)) await store.DeadLetters.DiscardAsync(new() { Ids = [letter.Id] }, new("ada", "paid"), 1, cancellationToken);
            await store.LetterRetention.RemoveSettledAsync(TimeProvider.System.GetUtcNow().AddHours(1), cancellationToken);
        }

        for (var restart = 1; restart <= 6; restart++) // each writes a little, and compacts
        {
            await using var store = await OpenAsync(4_000, cancellationToken);
            foreach (var number in Enumerable.Range(1, 8)) await store.DeadLetters.AddAsync(letters[0] with { LastAttempt = Start.AddDays(restart).AddHours(number) }, cancellationToken);

            var found = await FindAsync(store.DeadLetters, cancellationToken);
            Assert.That(found.Select(letter => letter.Id), Is.EquivalentTo(letters.Where((_, number) => number % 4 == 0).Select(letter => letter.Id)), $"restart {restart}");
        }

        var left = SegmentFile.List(FileStore.Folders(_config).DeadLetters).Sum(segment => new FileInfo(segment.Path).Length);
        Assert.That(left, Is.LessThan(40_000), "ten letters of a good 700 bytes are left of 160 that were written");
    }

    [Test, CancelAfter(60_000)]
    public async Task A_hundred_thousand_letters_are_listed_and_grouped_within_a_second(CancellationToken cancellationToken)
    {
        await using (var log = SegmentLog.Open(FileStore.Folders(_config).DeadLetters, SegmentOptions.Default, NullLogger.Instance))
        {
            foreach (var chunk in Enumerable.Range(1, 100_000).Chunk(1_000)) await Task.WhenAll(chunk.Select(number => log.AppendAsync(Record(number), cancellationToken)));
        }

        await using var store = await OpenAsync(SegmentOptions.Default.MaxSegmentBytes, cancellationToken);
        await store.DeadLetters.GroupAsync(new(), byCause: true, cancellationToken); // reads the folder, once
        List<DeadLetterSummary> page = [];
        IReadOnlyList<DeadLetterGroup> groups = [];
        var fastest = TimeSpan.MaxValue;
        for (var round = 0; round < 5; round++) // one round alone tells of the machine, too
        {
            var started = Stopwatch.GetTimestamp();
            page = await store.DeadLetters.FindAsync(new() { Filter = new() { Endpoint = "endpoint-7" }, Before = 50_000 }, cancellationToken).ToListAsync(cancellationToken);
            groups = await store.DeadLetters.GroupAsync(new() { State = DeadLetterState.Open }, byCause: true, cancellationToken);
            fastest = new[] { fastest, Stopwatch.GetElapsedTime(started) }.Min();
        }

        Assert.That(fastest, Is.LessThan(TimeSpan.FromSeconds(1)));
        Assert.That(page, Has.Count.EqualTo(100));
        Assert.That(groups.Select(group => group.Count), Is.EqualTo(Enumerable.Repeat(10_000, 10)));
    }

    private static byte[] Record(int number)
    {
        var letter = Letter(number) with { Endpoint = $"endpoint-{number % 10}", Reason = $"Order {number} is unknown." };
        return StoredItems.Write(new LetterEvent { Letter = StoredDeadLetter.From(letter) with { Number = number } }.ToItem(letter.Message.Body.Bytes));
    }

    private static DeadLetter Letter(int number) => new(
        Some.Message($"<order number='{number}'/>", "orders.accepted") with { Headers = MessageHeaders.From([new("x-order", $"A-{number}")]) },
        "orders-db", "ESB-SQL-TIMEOUT", "The database did not answer.", null, 1, Start, Start);

    private static async Task<List<DeadLetterSummary>> FindAsync(IDeadLetterStore store, CancellationToken cancellationToken) =>
        await store.FindAsync(new() { Limit = 1000 }, cancellationToken).ToListAsync(cancellationToken);

    private async Task<FileStore> OpenAsync(long segmentBytes, CancellationToken cancellationToken)
    {
        var store = new FileStore(_config, new SegmentOptions(segmentBytes), TimeProvider.System, NullLogger<FileStore>.Instance);
        await store.StartAsync(cancellationToken);
        return store;
    }
}
