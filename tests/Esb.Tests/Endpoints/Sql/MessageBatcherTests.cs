using Esb.Endpoints.Sql.Batches;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Sql;

/// <summary>For whom a batch waits.</summary>
[CancelAfter(30_000), FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class MessageBatcherTests
{
    private readonly ManualTime _time = new();
    private readonly List<int> _batches = [];

    [Test]
    public async Task Nobody_waits_for_more_messages_than_can_come(CancellationToken cancellationToken)
    {
        var batcher = Batcher(size: 100);
        batcher.MostAtOnce = 2; // an operator

        await Task.WhenAll(batcher.AddAsync(Message(), cancellationToken), batcher.AddAsync(Message(), cancellationToken));

        Assert.That(_batches, Is.EqualTo(new[] { 2 }), "and no time has passed");
    }

    [Test]
    public async Task Batch_that_is_not_full_waits_for_its_time(CancellationToken cancellationToken)
    {
        var batcher = Batcher(size: 100);
        var both = Task.WhenAll(batcher.AddAsync(Message(), cancellationToken), batcher.AddAsync(Message(), cancellationToken));
        await Eventually.HoldsAsync(() => _time.Waiting == 1, "the wait", cancellationToken);
        Assert.That(both.IsCompleted, Is.False);

        _time.Advance(TimeSpan.FromMilliseconds(50));
        await both;

        Assert.That(_batches, Is.EqualTo(new[] { 2 }));
    }

    private static BatchedMessage Message() => new([], claim: null);

    private MessageBatcher Batcher(int size) =>
        new(
            new SqlBatchConfig
            {
                Path = "endpoints.db.batch",
                Size = size,
                Within = TimeSpan.FromMilliseconds(50),
            },
            mostAtOnce: 3,
            batch =>
            {
                _batches.Add(batch.Count);
                foreach (var message in batch)
                    message.SetResult();
                return Task.CompletedTask;
            },
            _time
        );
}
