using System.Text;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Storage;
using Esb.Storage.Files;
using Esb.Storage.Files.Index;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.Tests.Storage.Files;

public sealed class FileAuditStoreTests
{
    private static readonly SegmentOptions SmallSegments = new(MaxSegmentBytes: 1000);

    private FileStoreConfig _config = null!;

    [SetUp]
    public void CreateFolder() => _config = new FileStoreConfig { Folder = Directory.CreateTempSubdirectory("esb-").FullName };

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_config.Folder, recursive: true);

    [Test, CancelAfter(30_000)]
    public async Task Facts_of_many_segments_are_found_newest_first_also_after_a_restart(CancellationToken cancellationToken)
    {
        await using (var store = await OpenAsync(cancellationToken))
        {
            for (var number = 0; number < 100; number++)
            {
                await store.Audit.AppendAsync(
                    [SomeFacts.Fact(fields: [("order", $"A-{number % 10}"), ("number", $"{number}")])],
                    cancellationToken
                );
                if (number % 20 == 0)
                    await FindAsync(store.Audit, new AuditQuery(), cancellationToken); // the index learns in between
            }

            await AssertFoundAsync(store);
        }

        await using var reopened = await OpenAsync(cancellationToken);
        await AssertFoundAsync(reopened);
        Assert.That(
            Segments().SkipLast(1).All(segment => File.Exists(segment.IndexPath)),
            Is.True,
            "every segment but the last has its index on disk"
        );

        async Task AssertFoundAsync(FileStore store)
        {
            var found = await FindAsync(
                store.Audit,
                new AuditQuery { Where = new Dictionary<string, string> { ["order"] = "A-3" } },
                cancellationToken
            );
            var all = await FindAsync(store.Audit, new AuditQuery(), cancellationToken);
            Assert.That(
                found.Select(fact => fact.Fields["number"]),
                Is.EqualTo(["93", "83", "73", "63", "53", "43", "33", "23", "13", "3"])
            );
            Assert.That(
                all.Select(fact => fact.Fields["number"]),
                Is.EqualTo(Enumerable.Range(0, 100).Reverse().Select(number => $"{number}"))
            );
        }
    }

    [Test, CancelAfter(30_000)]
    public async Task An_index_that_cannot_be_read_is_made_again(CancellationToken cancellationToken)
    {
        await using (var store = await OpenAsync(cancellationToken))
        {
            for (var number = 0; number < 50; number++)
                await store.Audit.AppendAsync([SomeFacts.Fact(fields: ("number", $"{number}"))], cancellationToken);
            await FindAsync(store.Audit, new AuditQuery(), cancellationToken);
        }

        var before = await File.ReadAllBytesAsync(Segments()[0].IndexPath, cancellationToken);
        await File.WriteAllBytesAsync(Segments()[0].IndexPath, [.. before.Take(20)], cancellationToken);
        await File.WriteAllBytesAsync(Segments()[1].IndexPath, [.. before.Select(_ => (byte)7)], cancellationToken);

        await using var reopened = await OpenAsync(cancellationToken);
        Assert.That(await FindAsync(reopened.Audit, new AuditQuery(), cancellationToken), Has.Count.EqualTo(50));
        Assert.That(await File.ReadAllBytesAsync(Segments()[0].IndexPath, cancellationToken), Is.EqualTo(before));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_segment_that_comes_to_its_end_while_a_search_looks_is_read_to_its_end(CancellationToken cancellationToken)
    {
        var audit = FileStore.AuditFolder(Path.GetFullPath(_config.Folder));
        await using var log = SegmentLog.Open(audit, SmallSegments, NullLogger.Instance);
        var (grows, written) = (true, 1);
        using var index = new FileAuditIndex(audit, LookWhileItGrows, NullLogger.Instance);
        await log.AppendAsync(StoredFact.Write([SomeFacts.Fact()]), cancellationToken);

        await index.RefreshAsync(cancellationToken);
        var segments = await index.RefreshAsync(cancellationToken);

        Assert.That(Segments(), Has.Count.EqualTo(2));
        Assert.That(segments.Sum(segment => segment.All().Count), Is.EqualTo(written));

        // What a writer does between two lines of the search.
        SegmentPosition LookWhileItGrows()
        {
            var before = log.Committed;
            for (; grows && log.Committed.Segment == before.Segment; written++)
                log.AppendAsync(StoredFact.Write([SomeFacts.Fact()]), CancellationToken.None).GetAwaiter().GetResult();
            grows = false;
            return before;
        }
    }

    [Test, CancelAfter(30_000)]
    public async Task A_reader_beside_a_running_host_sees_each_new_fact(CancellationToken cancellationToken)
    {
        await using var store = await OpenAsync(cancellationToken);
        await using var reader = StoreReader.Open(_config, NullLogger.Instance);

        for (var count = 1; count <= 60; count++)
        {
            await store.Audit.AppendAsync([SomeFacts.Fact()], cancellationToken);
            Assert.That(await FindAsync(reader.Audit, new AuditQuery(), cancellationToken), Has.Count.EqualTo(count));
        }
    }

    [Test]
    public async Task A_reader_of_a_folder_that_does_not_exist_finds_nothing_and_makes_nothing()
    {
        var config = new FileStoreConfig { Folder = Path.Combine(_config.Folder, "none") };
        await using var reader = StoreReader.Open(config, NullLogger.Instance);

        Assert.That(await FindAsync(reader.Audit, new AuditQuery(), default), Is.Empty);
        Assert.That(await reader.DeadLetters.FindAsync(new(), default).ToListAsync(), Is.Empty);
        Assert.That(() => reader.Audit.AppendAsync([SomeFacts.Fact()], default), Throws.InvalidOperationException);
        Assert.That(Directory.Exists(config.Folder), Is.False);
    }

    [Test, CancelAfter(30_000)]
    public async Task Facts_that_outlived_the_retention_go_with_their_segments(CancellationToken cancellationToken)
    {
        await using var store = await OpenAsync(cancellationToken);
        var start = new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
        for (var day = 0; day < 60; day++)
            await store.Audit.AppendAsync([SomeFacts.Fact(time: start.AddDays(day))], cancellationToken);

        await store.Retention.RemoveBeforeAsync(start.AddDays(30), cancellationToken);

        var kept = await FindAsync(store.Audit, new AuditQuery(), cancellationToken);
        Assert.That(kept, Has.Count.InRange(30, 59), "whole segments go, and none with a younger fact");
        Assert.That(kept[0].Time, Is.EqualTo(start.AddDays(59)));
        Assert.That(Segments()[0].Number, Is.GreaterThan(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_damaged_record_costs_no_other_fact(CancellationToken cancellationToken)
    {
        await using (var store = await OpenAsync(cancellationToken))
        {
            for (var number = 0; number < 5; number++)
                await store.Audit.AppendAsync([SomeFacts.Fact(fields: ("number", $"{number}"))], cancellationToken);
        }

        var bytes = await File.ReadAllBytesAsync(Segments()[0].Path, cancellationToken);
        bytes[bytes.Length / 2] ^= 1;
        await File.WriteAllBytesAsync(Segments()[0].Path, bytes, cancellationToken);

        await using var reopened = await OpenAsync(cancellationToken);
        var found = await FindAsync(reopened.Audit, new AuditQuery(), cancellationToken);
        Assert.That(found.Select(fact => fact.Fields["number"]), Is.EqualTo(["4", "3", "1", "0"]));
    }

    [Test, CancelAfter(30_000)]
    public async Task Facts_stored_by_version_1_can_be_read(CancellationToken cancellationToken)
    {
        const string Json =
            """{"id":"019a0000-0000-7000-8000-000000000001","kind":"Recorded","time":"2026-01-02T03:04:05+00:00","messageId":"019a0000-0000-7000-8000-000000000002","conversationId":"019a0000-0000-7000-8000-000000000003","endpoint":"orders","name":"order-received","attempt":0,"fields":{"order":"A-1001"}}""";
        var audit = FileStore.AuditFolder(Path.GetFullPath(_config.Folder));
        await using (var log = SegmentLog.Open(audit, SegmentOptions.Default, NullLogger.Instance))
        {
            await log.AppendAsync(
                new byte[] { 1, unchecked((byte)Json.Length), (byte)(Json.Length >> 8), 0, 0, 255, 255, 255, 255 }
                    .Concat(Encoding.UTF8.GetBytes(Json))
                    .ToArray(),
                cancellationToken
            );
        }

        await using var store = await OpenAsync(cancellationToken);
        var fact = (await store.Audit.GetJourneyAsync(Guid.Parse("019a0000-0000-7000-8000-000000000002"), cancellationToken)).Single();
        Assert.That(
            (fact.Name, fact.Endpoint, fact.Kind, fact.Fields["order"], fact.Body),
            Is.EqualTo(("order-received", "orders", AuditKind.Recorded, "A-1001", (ReadOnlyMemory<byte>?)null))
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task A_record_of_a_later_version_is_left_alone(CancellationToken cancellationToken)
    {
        var audit = FileStore.AuditFolder(Path.GetFullPath(_config.Folder));
        await using (var log = SegmentLog.Open(audit, SegmentOptions.Default, NullLogger.Instance))
            await log.AppendAsync(new byte[] { 2, 1, 2, 3 }, cancellationToken);

        await using var store = await OpenAsync(cancellationToken);
        await store.Audit.AppendAsync([SomeFacts.Fact()], cancellationToken);

        Assert.That(await FindAsync(store.Audit, new AuditQuery(), cancellationToken), Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task Appending_to_a_store_that_has_stopped_fails_as_unavailable(CancellationToken cancellationToken)
    {
        await using var store = await OpenAsync(cancellationToken);
        await store.StopAsync(cancellationToken);

        Assert.That(
            () => store.Audit.AppendAsync([SomeFacts.Fact()], cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-AUD-WRITE").And.Property("Kind").EqualTo(FaultKind.Unavailable)
        );
    }

    private async Task<FileStore> OpenAsync(CancellationToken cancellationToken)
    {
        var store = new FileStore(_config, SmallSegments, TimeProvider.System, NullLogger<FileStore>.Instance);
        await store.StartAsync(cancellationToken);
        return store;
    }

    private IReadOnlyList<SegmentFile> Segments() => SegmentFile.List(FileStore.AuditFolder(Path.GetFullPath(_config.Folder)));

    private static async Task<List<AuditFact>> FindAsync(IAuditStore store, AuditQuery query, CancellationToken cancellationToken) =>
        await store.FindAsync(query, cancellationToken).ToListAsync(cancellationToken);
}
