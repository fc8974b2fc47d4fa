using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Storage;
using Esb.Storage.TakeOver;
using Esb.Tests.Storage.Sqlite;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Storage.TakeOver;

/// <summary>A folder that release 0.1 wrote, beside what that release answered of it, becomes a folder of today.</summary>
[CancelAfter(60_000)]
public sealed class TakeOverTests
{
    private static readonly string[] Parts = ["activities", "attempts", "dead-letters", "idempotency-keys", "parked"];

    private static readonly (string, Guid)[] Tried = [("shop", Id(300)), ("a-b-c", Id(301)), ("shop", Id(302))];

    private readonly string _release = Path.Combine(TestContext.CurrentContext.TestDirectory, "Storage", "TakeOver", "release-0.1");

    private EmbeddedStore _embedded = null!;

    [SetUp]
    public void CopyFolder()
    {
        _embedded = new EmbeddedStore();
        CopyTo(_embedded.Config.Folder);
    }

    [TearDown]
    public async Task Close() => await _embedded.DisposeAsync();

    [Test]
    public async Task Everything_that_release_0_1_kept_is_there(CancellationToken cancellationToken)
    {
        var store = await _embedded.OpenAsync(cancellationToken);

        await AssertWholeAsync(store, cancellationToken);
        Assert.That(FoldersLeft(), Is.EqualTo(Parts.Select(part => $"{part}.v1").Prepend("audit").Order()));
        Assert.That(_embedded.Lines.All.Select(line => line.Text), Has.Some.Contains("dead-letters was taken over: 9 in all"));
        Assert.That(await store.CrashMarks.AddAsync("shop", Id(302), cancellationToken), Is.EqualTo(3));
        Assert.That(await store.CrashMarks.AddAsync("shop", Id(300), cancellationToken), Is.EqualTo(2));
    }

    [Test]
    public async Task Keys_of_requests_are_remembered(CancellationToken cancellationToken)
    {
        var store = await _embedded.OpenAsync(cancellationToken);

        var answered = (KeyClaim.Answered)await ClaimAsync(store, "answered", null, "body", cancellationToken);
        var ofClient = (KeyClaim.Answered)await ClaimAsync(store, "of-a-client", "acme", "body", cancellationToken);

        Assert.That(answered.Answer.Body!.Value.ToArray(), Is.EqualTo("{\"id\":7}"u8.ToArray()));
        Assert.That(
            (answered.Answer.Status, answered.Answer.ContentType, answered.Answer.Headers["x-a"]),
            Is.EqualTo((202, "application/json", "ä"))
        );
        Assert.That((ofClient.Answer.Status, ofClient.Answer.Body), Is.EqualTo((200, default(ReadOnlyMemory<byte>?))));
        Assert.That(await ClaimAsync(store, "answered", null, "other", cancellationToken), Is.InstanceOf<KeyClaim.Conflicting>());
        Assert.That(await ClaimAsync(store, "claimed", null, "other", cancellationToken), Is.InstanceOf<KeyClaim.Conflicting>());
        Assert.That(
            await ClaimAsync(store, "claimed", null, "body", cancellationToken),
            Is.InstanceOf<KeyClaim.Granted>(),
            "the process that had it is gone"
        );
        Assert.That(await ClaimAsync(store, "not-durable", null, "body", cancellationToken), Is.InstanceOf<KeyClaim.Granted>());
    }

    [Test]
    public async Task Jobs_go_on_where_they_were(CancellationToken cancellationToken)
    {
        var store = await _embedded.OpenAsync(cancellationToken);

        var claim = (await store.ReplayJobs.ClaimAsync("host", cancellationToken))!;
        var next = await store.ReplayJobs.NextAsync(claim, 10, cancellationToken);

        Assert.That(claim.Job.Id, Is.EqualTo(Id(9004)));
        Assert.That(next.Select(letter => letter.MessageId), Is.EqualTo(new[] { Id(9) }));
    }

    [Test, Category("Thorough")]
    public async Task Interrupted_after_any_transaction_it_is_resumed_by_the_next_start(CancellationToken cancellationToken)
    {
        for (var interruption = 1; ; interruption++)
        {
            var folder = Directory.CreateTempSubdirectory("esb-interrupted-").FullName;
            CopyTo(folder);
            if (await TakeOverAsync(folder, interruption, cancellationToken)) // to its end
            {
                Assert.That(interruption, Is.GreaterThan(30), "each letter, each job, each message was one");
                Directory.Delete(folder, recursive: true);
                return;
            }

            await using var resumed = new EmbeddedStore();
            Directory.Delete(resumed.Config.Folder, recursive: true);
            Directory.Move(folder, resumed.Config.Folder);
            await AssertWholeAsync(await resumed.OpenAsync(cancellationToken), cancellationToken);
        }
    }

    [Test]
    public async Task Next_start_takes_nothing_over(CancellationToken cancellationToken)
    {
        var store = await _embedded.OpenAsync(cancellationToken);
        await store.DeadLetters.DiscardAsync(new DeadLetterFilter(), new OperatorDecision("ada", "all"), 1000, cancellationToken);

        store = await _embedded.ReopenAsync(cancellationToken);

        Assert.That(
            await store
                .DeadLetters.FindAsync(new() { Filter = new() { State = DeadLetterState.Open } }, cancellationToken)
                .CountAsync(cancellationToken),
            Is.Zero
        );
    }

    [Test]
    public async Task What_release_0_1_wrote_after_a_step_back_is_taken_over_as_well_and_nothing_newer_is_changed(
        CancellationToken cancellationToken
    )
    {
        var store = await _embedded.OpenAsync(cancellationToken);
        var discarded = await store.DeadLetters.DiscardAsync(
            new DeadLetterFilter(),
            new OperatorDecision("ada", "all"),
            1000,
            cancellationToken
        );
        await store.DisposeAsync();
        CopyTo(_embedded.Config.Folder);

        store = await _embedded.OpenAsync(cancellationToken);

        var now = await store
            .DeadLetters.FindAsync(
                new()
                {
                    Filter = new() { State = DeadLetterState.Discarded },
                    Limit = 1000,
                },
                cancellationToken
            )
            .ToListAsync(cancellationToken);
        Assert.That(discarded, Is.Not.Empty);
        Assert.That(now.Select(letter => letter.Id), Is.SupersetOf(discarded.Select(letter => letter.Id)));
        Assert.That(FoldersLeft(), Has.Member("dead-letters.v1").And.Member("dead-letters.v1-2"));
    }

    [Test]
    public async Task Reader_is_told_to_start_a_host_first(CancellationToken cancellationToken)
    {
        await using var reader = _embedded.Read();

        var refused = Assert.ThrowsAsync<EsbException>(() => reader.Parking.ListAsync(null, null, 10, cancellationToken))!;

        Assert.That(refused.Code, Is.EqualTo("ESB-STORE-VERSION"));
        Assert.That(refused.Message, Does.Contain("start a host of this version"));
        Assert.That(Directory.Exists(Path.Combine(_embedded.Config.Folder, "dead-letters")), Is.True);
    }

    [Test]
    public async Task Host_of_release_0_1_that_still_runs_is_seen(CancellationToken cancellationToken)
    {
        using var running = Esb.Storage.Segments.FolderLock.Take(Path.Combine(_embedded.Config.Folder, "audit"));

        Assert.That(
            () => _embedded.OpenAsync(cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-STORE-INUSE")
        );
        Assert.That(File.Exists(_embedded.Database), Is.False);
    }

    [Test]
    public async Task Damaged_record_is_told_of_and_the_others_are_taken_over(CancellationToken cancellationToken)
    {
        var segment = Path.Combine(_embedded.Config.Folder, "dead-letters", "0000000001.segment");
        await using (var file = File.OpenWrite(segment))
        {
            file.Position = 200;
            await file.WriteAsync(new byte[100], cancellationToken);
        }

        var store = await _embedded.OpenAsync(cancellationToken);

        Assert.That(
            await store.DeadLetters.FindAsync(new() { Limit = 1000 }, cancellationToken).CountAsync(cancellationToken),
            Is.InRange(5, 8)
        );
        Assert.That(_embedded.Lines.All.Select(line => line.Text), Has.Some.Contains("is damaged"));
    }

    // Whether it came to its end.
    private async Task<bool> TakeOverAsync(string folder, int transactions, CancellationToken cancellationToken)
    {
        using var interrupted = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        await using var database = SomeDatabase.In(folder, _embedded.Time);
        var earlier = new EarlierFolder(folder, database, _embedded.Time, NullLogger.Instance)
        {
            Batch = 1,
            Told = () =>
            {
                if (--transactions == 0)
                    interrupted.Cancel();
            },
        };
        try
        {
            await earlier.TakeOverAsync(interrupted.Token);
            return !interrupted.IsCancellationRequested;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    private async Task AssertWholeAsync(Store store, CancellationToken cancellationToken)
    {
        var expected = await File.ReadAllTextAsync(Path.Combine(_release, "expected.json"), cancellationToken);
        Assert.That(await StoreDump.OfAsync(store, Tried, "order", cancellationToken), Is.EqualTo(expected));
    }

    private IEnumerable<string?> FoldersLeft() =>
        Directory.GetDirectories(_embedded.Config.Folder).Select(Path.GetFileName).Order(StringComparer.Ordinal);

    private void CopyTo(string folder)
    {
        var source = Path.Combine(_release, "folder");
        foreach (var file in Directory.GetFiles(source, "*", SearchOption.AllDirectories))
        {
            var copy = Path.Combine(folder, Path.GetRelativePath(source, file));
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            File.Copy(file, copy, overwrite: true);
        }
    }

    private static Task<KeyClaim> ClaimAsync(Store store, string key, string? client, string body, CancellationToken cancellationToken) =>
        store.IdempotencyKeys.ClaimAsync(new IdempotencyKey("orders", client, key), SomeKeys.HashOf(body), cancellationToken);

    private static Guid Id(int number) => new(number, 7, 0x7000, 0x80, 1, 2, 3, 4, 5, 6, 7);
}
