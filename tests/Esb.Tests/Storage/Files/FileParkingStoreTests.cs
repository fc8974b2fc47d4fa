using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Storage.Files.Parking;
using Esb.Storage.Segments;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Storage.Files;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class FileParkingStoreTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-parked-");
    private Lazy<SegmentLog> _log = null!;
    private FileParkingStore _store = null!;

    public void Dispose() => _folder.Delete(recursive: true);

    [SetUp]
    public void Open()
    {
        _log = new Lazy<SegmentLog>(() => SegmentLog.Open(_folder.FullName, SegmentOptions.Default, NullLogger.Instance));
        _store = new FileParkingStore(_folder.FullName, _log, TimeProvider.System, NullLogger.Instance);
    }

    [TearDown]
    public async Task Close()
    {
        _store.Dispose();
        await _log.Value.DisposeAsync();
    }

    [Test, CancelAfter(30_000)]
    public async Task Store_in_which_nothing_is_parked_any_more_stays_small(CancellationToken cancellationToken)
    {
        var owner = await _store.TakeLaneAsync("out", 0, cancellationToken);
        for (var i = 0; i < 100; i++)
        {
            var parked = Parked($"key {i}", 100_000);
            await _store.ParkAsync(owner, parked, cancellationToken);
            await _store.RemoveAsync(owner, parked, cancellationToken);
        }

        Assert.That(SizeOnDisk(), Is.LessThan(2 << 20));
    }

    [Test, CancelAfter(30_000)]
    public async Task What_is_still_parked_survives_the_removal_of_what_is_not(CancellationToken cancellationToken)
    {
        var owner = await _store.TakeLaneAsync("out", 0, cancellationToken);
        var staying = Enumerable.Range(0, 3).Select(_ => Parked("stays", 1000)).ToList();
        foreach (var parked in staying) await _store.ParkAsync(owner, parked, cancellationToken);
        await _store.RescheduleAsync(owner, staying[0] with { Message = staying[0].Message with { Attempt = 5 }, DueAt = TimeProvider.System.GetUtcNow().AddDays(1) }, cancellationToken);
        for (var i = 0; i < 50; i++)
        {
            var parked = Parked($"key {i}", 100_000);
            await _store.ParkAsync(owner, parked, cancellationToken);
            await _store.RemoveAsync(owner, parked, cancellationToken);
        }

        await Close();
        Open();
        var line = await _store.MessagesAsync("out", "stays", 10, cancellationToken);

        Assert.That(SizeOnDisk(), Is.LessThan(2 << 20));
        Assert.That(line.Select(parked => parked.Message.Id), Is.EqualTo(staying.Select(parked => parked.Message.Id)));
        Assert.That(line.Select(parked => parked.Message.Body.Length), Is.All.EqualTo(1000));
        Assert.That((line[0].Message.Attempt, line[0].DueAt > TimeProvider.System.GetUtcNow()), Is.EqualTo((5, true)));
    }

    private long SizeOnDisk() => _folder.GetFiles("*.segment").Sum(file => file.Length);

    private static ParkedMessage Parked(string key, int size) =>
        new(Some.Message(key: key) with { Body = MessageBody.FromBytes(new byte[size]) }, TimeProvider.System.GetUtcNow(), [], null);
}
