using Esb.Configuration;
using Esb.Storage.Evidence;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Storage;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class AnchorLogTests : IDisposable
{
    private static readonly DateOnly Day = new(2026, 3, 1);

    private readonly string _folder = Directory.CreateTempSubdirectory("esb-anchors-").FullName;
    private readonly StuckClock _clock = new();

    public void Dispose()
    {
        _clock.Release();
        Directory.Delete(_folder, recursive: true);
    }

    [Test, CancelAfter(30_000)]
    public async Task Anchor_that_cannot_be_written_now_holds_no_fact_up_and_comes_with_the_next(CancellationToken cancellationToken)
    {
        var chain = Guid.CreateVersion7();
        await using (var anchors = Open())
        {
            anchors.Note(chain, Day, new ChainHead(1, [1]), facts: 1);
            _clock.Hold();
            var writing = Task.Run(anchors.WriteHeads, cancellationToken);
            await _clock.Held.WaitAsync(cancellationToken);

            await Task.Run(() => anchors.Note(chain, Day, new ChainHead(2, [2]), facts: 1), cancellationToken)
                .WaitAsync(TimeSpan.FromSeconds(5), cancellationToken);

            Assert.That(writing.IsCompleted, Is.False);
            _clock.Release();
            await writing;
        }

        Assert.That(Counts(chain), Is.EqualTo(new[] { 1L, 2L }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Host_that_stops_does_not_wait_for_a_disk_that_does_not_answer(CancellationToken cancellationToken)
    {
        var anchors = Open();
        anchors.Note(Guid.CreateVersion7(), Day, new ChainHead(1, [1]), facts: 1);
        _clock.Hold();

        await Task.Run(async () => await anchors.DisposeAsync(), cancellationToken).WaitAsync(TimeSpan.FromSeconds(15), cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Very_many_facts_are_anchored_before_the_interval_is_over(CancellationToken cancellationToken)
    {
        var chain = Guid.CreateVersion7();
        await using var anchors = Open();

        anchors.Note(chain, Day, new ChainHead(100_000, [1]), facts: 100_000);

        while (!Counts(chain).Contains(100_000))
            await Task.Delay(20, cancellationToken);
    }

    private AnchorLog Open() =>
        AnchorLog.TryOpen(
            new AuditEvidenceConfig
            {
                Anchors = _folder,
                AnchorKey = "a key of the tests",
                AnchorInterval = TimeSpan.FromHours(1),
            },
            _clock,
            NullLogger.Instance
        )!;

    private IReadOnlyList<long> Counts(Guid chain) =>
        [
            .. AnchorFile
                .ReadFolder(_folder, "a key of the tests"u8.ToArray())
                .Anchors.Where(anchor => anchor.Chain == chain)
                .Select(anchor => anchor.Count),
        ];

    // Each anchor is written with its time: where the clock stands still, so does the writing.
    private sealed class StuckClock : TimeProvider
    {
        private readonly TaskCompletionSource _held = new();
        private readonly ManualResetEventSlim _free = new(initialState: true);

        public Task Held => _held.Task;

        public void Hold() => _free.Reset();

        public void Release() => _free.Set();

        public override DateTimeOffset GetUtcNow()
        {
            if (!_free.IsSet)
                _held.TrySetResult();
            _free.Wait();
            return base.GetUtcNow();
        }
    }
}
