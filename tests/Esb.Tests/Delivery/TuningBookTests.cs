using Esb.Core.Storage;
using Esb.Delivery.Control;

namespace Esb.Tests.Delivery;

/// <summary>What was read from the store must not undo what an operator changed since.</summary>
public sealed class TuningBookTests
{
    private readonly Settings _store = new();

    private TuningBook _book = null!;

    [SetUp]
    public void CreateBook() => _book = new TuningBook(_store, new NoCopy());

    [Test]
    public async Task Pause_made_after_the_store_was_read_stays()
    {
        var asOf = _book.Changes;
        var read = await _store.ListAsync(default);
        await _book.SetAsync("erp", [Paused], default);

        var changed = _book.Load(read, asOf);

        Assert.That(changed, Is.Empty);
        Assert.That(_book.Of("erp").Paused, Is.True);
        Assert.That(_store.Kept, Is.EqualTo(new[] { Paused }));
    }

    [Test]
    public async Task What_was_read_after_the_last_change_replaces_all()
    {
        await _book.SetAsync("erp", [Paused], default);
        _store.Kept.Clear(); // another host reset it

        var changed = _book.Load(await _store.ListAsync(default), _book.Changes);

        Assert.That(changed, Is.EqualTo(new[] { "erp" }));
        Assert.That(_book.Of("erp").Paused, Is.Null);
    }

    private static TunedSetting Paused { get; } = new("erp", "paused", "true", null, "ann", DateTimeOffset.UnixEpoch);

    private sealed class Settings : ITuningStore
    {
        public List<TunedSetting> Kept { get; } = [];

        public Task<IReadOnlyList<TunedSetting>> ListAsync(CancellationToken cancellationToken) =>
            Task.FromResult<IReadOnlyList<TunedSetting>>([.. Kept]);

        public Task SetAsync(IReadOnlyCollection<TunedSetting> settings, CancellationToken cancellationToken)
        {
            Kept.AddRange(settings);
            return Task.CompletedTask;
        }

        public Task RemoveAsync(string endpoint, string? setting, CancellationToken cancellationToken)
        {
            Kept.RemoveAll(one => one.Endpoint == endpoint && (setting is null || one.Setting == setting));
            return Task.CompletedTask;
        }
    }

    private sealed class NoCopy : ITuningCopy
    {
        public IReadOnlyList<TunedSetting> Read() => [];

        public void Write(IReadOnlyCollection<TunedSetting> settings) { }
    }
}
