using System.Diagnostics;
using System.Runtime.Versioning;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Storage;
using Esb.Storage.Sql;
using Esb.Storage.Sql.Parking;
using Esb.Storage.Sqlite;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Storage.Sqlite;

[CancelAfter(60_000)]
public sealed class SqliteDatabaseTests
{
    private EmbeddedStore _embedded = null!;

    [SetUp]
    public void Make() => _embedded = new EmbeddedStore();

    [TearDown]
    public async Task Close() => await _embedded.DisposeAsync();

    [Test]
    public async Task Change_that_fails_is_taken_back_alone(CancellationToken cancellationToken)
    {
        var store = await _embedded.OpenAsync(cancellationToken);
        var owner = await store.Parking.TakeLaneAsync("out", 0, cancellationToken);
        var earlier = owner with { Token = owner.Token - 1 };

        var parks = Enumerable
            .Range(0, 200)
            .Select(number => store.Parking.ParkAsync(number % 2 == 0 ? owner : earlier, Parked($"{number}"), cancellationToken))
            .ToList();

        foreach (var (number, park) in parks.Index())
        {
            if (number % 2 == 0)
                Assert.DoesNotThrowAsync(() => park);
            else
                Assert.That(() => park, Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-LANE-LOST"));
        }

        Assert.That(await store.Parking.ListAsync("out", null, 1000, cancellationToken), Has.Count.EqualTo(100));
    }

    [Test]
    public async Task Every_commit_is_flushed_to_a_write_ahead_log(CancellationToken cancellationToken)
    {
        await using var database = SomeDatabase.In(_embedded.Config.Folder);

        var modes = await database.TransactAsync(
            async session =>
                (
                    await session.FirstAsync("pragma journal_mode", row => row.Text("journal_mode")),
                    await session.FirstAsync("pragma synchronous", row => row.Long("synchronous"))
                ),
            cancellationToken
        );

        Assert.That(modes, Is.EqualTo(("wal", 2L)), "2 is FULL");
    }

    [Test, Platform(Exclude = "Win"), UnsupportedOSPlatform("windows")]
    public async Task Files_are_for_their_owner_alone(CancellationToken cancellationToken)
    {
        var folder = Path.Combine(_embedded.Config.Folder, "made", "here");
        var store = new Esb.Storage.Files.FileStore(
            new FileStoreConfig { Folder = folder },
            TimeProvider.System,
            NullLogger<Esb.Storage.Files.FileStore>.Instance
        );
        await store.StartAsync(cancellationToken);

        var files = Directory.GetFiles(folder, "store.db*");
        var modes = files.Select(File.GetUnixFileMode).ToList();
        await store.DisposeAsync();

        Assert.That(files, Has.Length.EqualTo(3), "the database, its log and the index of that");
        Assert.That(modes, Is.All.EqualTo(UnixFileMode.UserRead | UnixFileMode.UserWrite));
        Assert.That(File.GetUnixFileMode(folder), Is.EqualTo(UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute));
    }

    [Test]
    public async Task Database_of_release_0_2_gets_migrations_whose_numbers_are_lower_than_its_version(CancellationToken cancellationToken)
    {
        var then = SqlMigration.Of("sqlite").Where(migration => migration.Number is <= 21 and not (17 or 18 or 19));
        Change(
            string.Concat(then.Select(migration => $"{migration.Sql};\n")) + "pragma user_version = 21; pragma application_id = 1163084337"
        );
        await using var reader = _embedded.Read();
        var early = Assert.ThrowsAsync<EsbException>(() => reader.Parking.ListAsync(null, null, 10, cancellationToken))!;

        await _embedded.OpenAsync(cancellationToken);
        await _embedded.ReopenAsync(cancellationToken); // a second start runs nothing again

        Assert.That(early.Code, Is.EqualTo("ESB-STORE-VERSION"), "a reader changes nothing");
        Assert.That(_embedded.Ask<long>("select count(*) from workflow_tally"), Is.Zero);
        Assert.That(_embedded.Ask<long>("select count(*) from outbox where reply_to is not null"), Is.Zero);
        Assert.That(_embedded.Ask<long>("select count(*) from letter_edit"), Is.Zero);
        Assert.That(
            _embedded.Ask<long>("select count(*) from schema_version"),
            Is.EqualTo(SqlMigration.Of("sqlite").Count),
            "each number once"
        );
    }

    [Test]
    public async Task Folder_of_a_newer_program_is_refused(CancellationToken cancellationToken)
    {
        await _embedded.OpenAsync(cancellationToken);
        await _embedded.Store.DisposeAsync();
        Change("pragma user_version = 4711");

        var start = Assert.ThrowsAsync<EsbException>(() => _embedded.OpenAsync(cancellationToken))!;
        await using var reader = _embedded.Read();
        var read = Assert.ThrowsAsync<EsbException>(() => reader.Parking.ListAsync(null, null, 10, cancellationToken))!;

        Assert.That((start.Code, read.Code), Is.EqualTo(("ESB-STORE-VERSION", "ESB-STORE-VERSION")));
        Assert.That(start.Message, Does.Contain("4711").And.Contain("store.db"));
        Assert.That(start.IsTransient, Is.False);
    }

    [TestCase(0), TestCase(5_000)]
    public async Task Damaged_file_is_refused(int offset, CancellationToken cancellationToken)
    {
        await _embedded.OpenAsync(cancellationToken);
        await _embedded.Store.DisposeAsync();
        await using (var file = File.OpenWrite(_embedded.Database))
        {
            file.Position = offset;
            await file.WriteAsync(Enumerable.Repeat((byte)'x', 20_000).ToArray(), cancellationToken);
        }

        var start = Assert.ThrowsAsync<EsbException>(() => _embedded.OpenAsync(cancellationToken))!;

        Assert.That(start.Code, Is.EqualTo("ESB-STORE-DAMAGED"));
        Assert.That(start.Message, Does.Contain("store.db"));
        Assert.That(start.IsTransient, Is.False);
    }

    [Test]
    public async Task Database_of_somebody_else_is_refused_and_left_alone(CancellationToken cancellationToken)
    {
        Change("create table photo (id integer); pragma user_version = 3");

        var start = Assert.ThrowsAsync<EsbException>(() => _embedded.OpenAsync(cancellationToken))!;

        Assert.That(start.Code, Is.EqualTo("ESB-STORE-DAMAGED"));
        Assert.That(_embedded.Ask<long>("select count(*) from sqlite_master"), Is.EqualTo(1));
    }

    [Test]
    public async Task Second_host_is_refused(CancellationToken cancellationToken)
    {
        await _embedded.OpenAsync(cancellationToken);
        await using var second = new Esb.Storage.Files.FileStore(
            _embedded.Config,
            TimeProvider.System,
            NullLogger<Esb.Storage.Files.FileStore>.Instance
        );

        Assert.That(
            () => second.StartAsync(cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-STORE-INUSE")
        );
    }

    [Test]
    public async Task Reader_beside_a_host_sees_what_was_kept_and_can_change_nothing(CancellationToken cancellationToken)
    {
        var store = await _embedded.OpenAsync(cancellationToken);
        await using var reader = _embedded.Read();
        var owner = await store.Parking.TakeLaneAsync("out", 0, cancellationToken);
        var before = await reader.Parking.ListAsync(null, null, 10, cancellationToken);

        await store.Parking.ParkAsync(owner, Parked("a"), cancellationToken);
        var after = await reader.Parking.ListAsync(null, null, 10, cancellationToken);

        Assert.That((before.Count, after.Count), Is.EqualTo((0, 1)));
        Assert.That(() => reader.Parking.ReleaseAsync("out", "a", cancellationToken), Throws.InvalidOperationException);
    }

    [Test]
    public async Task Reader_of_a_store_that_is_closed_or_was_never_there_reads_all_the_same(CancellationToken cancellationToken)
    {
        await using (var nothing = _embedded.Read())
            Assert.That(await nothing.Parking.ListAsync(null, null, 10, cancellationToken), Is.Empty);
        Assert.That(File.Exists(_embedded.Database), Is.False);
        var store = await _embedded.OpenAsync(cancellationToken);
        await store.Parking.ParkAsync(await store.Parking.TakeLaneAsync("out", 0, cancellationToken), Parked("a"), cancellationToken);
        await store.DisposeAsync();

        await using var reader = _embedded.Read();

        Assert.That(await reader.Parking.ListAsync(null, null, 10, cancellationToken), Has.Count.EqualTo(1));
    }

    [Test]
    public async Task Question_of_a_reader_beside_a_host_ends_after_a_second(CancellationToken cancellationToken)
    {
        await _embedded.OpenAsync(cancellationToken);
        await using var reader = SqliteDatabase.OfReader(_embedded.Config.Folder, NullLogger.Instance);
        var started = Stopwatch.GetTimestamp();

        var ended = Assert.ThrowsAsync<EsbException>(() =>
            reader.QueryAsync(
                "with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) as count from n",
                row => row.Long("count"),
                cancellationToken
            )
        )!;

        Assert.That(ended.Code, Is.EqualTo("ESB-STORE-AWAY"));
        Assert.That(Stopwatch.GetElapsedTime(started), Is.GreaterThanOrEqualTo(TimeSpan.FromSeconds(1)));
        Assert.That(
            await reader.QueryAsync("select 1 as one", row => row.Long("one"), cancellationToken),
            Has.Count.EqualTo(1),
            "the next one is answered"
        );
    }

    [Test]
    public async Task What_is_answered_is_on_the_disk_also_when_the_process_ends_there(CancellationToken cancellationToken)
    {
        var store = await _embedded.OpenAsync(cancellationToken);
        var owner = await store.Parking.TakeLaneAsync("out", 0, cancellationToken);
        await Task.WhenAll(
            Enumerable.Range(0, 50).Select(number => store.Parking.ParkAsync(owner, Parked($"{number}"), cancellationToken))
        );

        // The files as a process leaves them that is killed now.
        var copy = Directory.CreateTempSubdirectory("esb-killed-").FullName;
        foreach (var file in Directory.GetFiles(_embedded.Config.Folder, "store.db*"))
            File.Copy(file, Path.Combine(copy, Path.GetFileName(file)));
        await using (var database = SomeDatabase.In(copy))
            Assert.That(
                await database.QueryAsync("select key from parked_key", row => row.Text("key"), cancellationToken),
                Has.Count.EqualTo(50)
            );
        Directory.Delete(copy, recursive: true);
    }

    [Test]
    public async Task Full_disk_refuses_what_cannot_be_kept_and_it_goes_on_once_there_is_room(CancellationToken cancellationToken)
    {
        await using var database = SomeDatabase.In(_embedded.Config.Folder);
        var parking = new ParkingStore(database, TimeProvider.System);
        var owner = await parking.TakeLaneAsync("out", 0, cancellationToken);
        await parking.ParkAsync(owner, Parked("before"), cancellationToken);
        await LimitAsync(pages: 100);

        var parks = Enumerable.Range(0, 20).Select(number => parking.ParkAsync(owner, Large($"{number}"), cancellationToken)).ToList();
        await Task.WhenAll(parks).ContinueWith(_ => { }, TaskScheduler.Default);
        var refused = parks.Where(park => park.IsFaulted).Select(park => park.Exception!.InnerException).Cast<EsbException>().ToList();
        var kept = await parking.ListAsync("out", null, 1000, cancellationToken);
        var trouble = database.Trouble;
        await LimitAsync(pages: 100_000);
        await parking.ParkAsync(owner, Large("after"), cancellationToken);

        Assert.That(refused, Is.Not.Empty);
        Assert.That(refused.Select(failure => failure.Code), Is.All.EqualTo("ESB-STORE-WRITE"));
        Assert.That(refused.Select(failure => failure.IsTransient), Is.All.True);
        Assert.That(kept, Has.Count.EqualTo(1 + parks.Count - refused.Count), "what was answered as kept is, and nothing else");
        Assert.That(trouble, Is.EqualTo("the disk cannot be written"));
        Assert.That(database.Trouble, Is.Null);

        Task LimitAsync(int pages) =>
            database.WriteAsync(session => session.QueryAsync($"pragma max_page_count = {pages}", _ => true), cancellationToken);

        ParkedMessage Large(string key) => Parked(key, bytes: 100_000);
    }

    private void Change(string sql)
    {
        using var connection = new SqliteConnection($"Data Source={_embedded.Database};Pooling=False");
        connection.Open();
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }

    private static ParkedMessage Parked(string key, int bytes = 10) =>
        new(Some.Message(key: key) with { Body = MessageBody.FromBytes(new byte[bytes]) }, TimeProvider.System.GetUtcNow(), [], null);
}
