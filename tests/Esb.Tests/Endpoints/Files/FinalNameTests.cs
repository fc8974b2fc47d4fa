using Esb.Endpoints.Files;

namespace Esb.Tests.Endpoints.Files;

[TestFixture]
internal sealed class FinalNameTests
{
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public void Files_that_a_killed_host_left_are_deleted_and_those_being_written_are_not()
    {
        var now = DateTimeOffset.Parse("2026-01-01T12:00:00Z", System.Globalization.CultureInfo.InvariantCulture);
        var (left, written, fresh, foreign) = (
            FinalName.Temporary(At("")),
            FinalName.Temporary(At("")),
            FinalName.Temporary(At("")),
            At(".upload.part")
        );
        using var writer = new FileStream(written, FileMode.CreateNew, FileAccess.Write, FileShare.Read);
        foreach (var path in new[] { left, fresh, foreign })
            File.WriteAllText(path, "a part");
        foreach (var path in new[] { left, written, foreign })
            File.SetLastWriteTimeUtc(path, now.UtcDateTime.AddMinutes(-1));
        File.SetLastWriteTimeUtc(fresh, now.UtcDateTime);

        FinalName.DeleteLeft(At(""), now);

        Assert.That(Directory.GetFiles(At("")), Is.EquivalentTo(new[] { written, fresh, foreign }));
    }

    // Looking first and renaming then, as File.Move does, lets two win in some of these rounds.
    [Test, CancelAfter(30_000), Property("Case", "FIL-09")]
    public async Task Of_those_who_want_a_name_at_the_same_moment_one_gets_it(CancellationToken cancellationToken)
    {
        const int Takers = 4;
        const int Rounds = 500;
        var wins = new int[Rounds];
        using var barrier = new Barrier(Takers);

        await Task.WhenAll(
            Enumerable
                .Range(0, Takers)
                .Select(taker =>
                    Task.Factory.StartNew(
                        () =>
                        {
                            for (var round = 0; round < Rounds; round++)
                            {
                                var source = At($"{taker}.part");
                                File.WriteAllText(source, "");
                                barrier.SignalAndWait(cancellationToken);
                                if (FinalName.TryTake(source, At($"order-{round}")))
                                    Interlocked.Increment(ref wins[round]);
                                else
                                    File.Delete(source);
                            }
                        },
                        cancellationToken,
                        TaskCreationOptions.LongRunning,
                        TaskScheduler.Default
                    )
                )
        );

        Assert.That(wins, Is.All.EqualTo(1));
    }

    // A link and a deletion would show a second name in between, and leave it after a crash.
    [Test, CancelAfter(30_000), Property("Case", "T-DEL-4")]
    public async Task File_has_one_name_at_every_moment(CancellationToken cancellationToken)
    {
        Assume.That(OperatingSystem.IsLinux());
        File.WriteAllText(At("a"), "");
        using var watcher = new FileSystemWatcher(_folder.FullName);
        var events = new System.Collections.Concurrent.ConcurrentQueue<WatcherChangeTypes>();
        watcher.Created += (_, change) => events.Enqueue(change.ChangeType);
        watcher.Renamed += (_, change) => events.Enqueue(change.ChangeType);
        watcher.EnableRaisingEvents = true;

        var taken = FinalName.TryTake(At("a"), At("b"));
        while (events.IsEmpty)
            await Task.Delay(10, cancellationToken);

        Assert.That((taken, events.First()), Is.EqualTo((true, WatcherChangeTypes.Renamed)));
    }

    [Test, Property("Case", "FIL-16")]
    public void Name_on_another_volume_is_taken_by_a_whole_file_or_not_at_all()
    {
        var other = Directory.CreateDirectory($"/dev/shm/esb-{Guid.NewGuid():N}");
        try
        {
            var taken = Path.Combine(other.FullName, "taken");
            File.WriteAllText(taken, "first");
            File.WriteAllText(At("a"), "second");

            Assert.That(FinalName.TryTake(At("a"), taken), Is.False);
            Assert.That(FinalName.TryTake(At("a"), Path.Combine(other.FullName, "free")), Is.True);

            Assert.That(
                other.GetFiles().OrderBy(file => file.Name).Select(file => (file.Name, File.ReadAllText(file.FullName))),
                Is.EqualTo([("free", "second"), ("taken", "first")])
            );
            Assert.That(File.Exists(At("a")), Is.False);
        }
        finally
        {
            other.Delete(recursive: true);
        }
    }

    [Test, CancelAfter(30_000), Property("Case", "FIL-16")]
    public async Task Name_on_another_volume_never_shows_half_a_file(CancellationToken cancellationToken)
    {
        const int Size = 16 << 20; // of the 64 MiB that a container has there
        var other = Directory.CreateDirectory($"/dev/shm/esb-{Guid.NewGuid():N}");
        try
        {
            var target = new FileInfo(Path.Combine(other.FullName, "order.bin"));
            await File.WriteAllBytesAsync(At("order.bin"), new byte[Size], cancellationToken);

            var move = Task.Run(() => FinalName.TryTake(At("order.bin"), target.FullName), cancellationToken);
            for (target.Refresh(); !move.IsCompleted; target.Refresh())
                Assert.That(!target.Exists || target.Length == Size, Is.True, "half a file");

            Assert.That(await move, Is.True);
        }
        finally
        {
            other.Delete(recursive: true);
        }
    }

    private string At(string name) => Path.Combine(_folder.FullName, name);
}
