using System.Data;
using Esb.Endpoints.Sql.Outbox;
using Esb.Tests.Fakes;

namespace Esb.IntegrationTests.Transactions;

/// <summary>A lane that another host has.</summary>
[TestFixture, CancelAfter(60_000)]
internal sealed class BusyLaneTests : OutboxFixture
{
    private readonly ManualTime _time = new();

    [Test]
    public async Task Lane_whose_first_message_does_not_move_is_told_after_30_s_until_it_does(CancellationToken cancellationToken)
    {
        var message = Keyed("c-1");
        var number = await AddAsync([message], cancellationToken);
        var publisher = new Publisher();
        var lane = new OutboxLane(new OutboxPass(number, Table, Database, publisher), new SemaphoreSlim(1), _time);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task running;

        await using (await TakeAsync(number, cancellationToken))
        {
            lane.Wake();
            running = lane.RunAsync(stop.Token);
            var began = _time.GetTimestamp();
            await UntilAsync(() => lane.Obstacle is not null, cancellationToken);

            Assert.That(_time.GetElapsedTime(began), Is.GreaterThanOrEqualTo(TimeSpan.FromSeconds(30)));
            Assert.That(
                (lane.Obstacle, publisher.Published.Count),
                Is.EqualTo(("Another host has a lane whose first message has not moved for 30 s.", 0))
            );
        }

        await UntilAsync(() => lane.Obstacle is null && publisher.Published.Count > 0, cancellationToken);
        await stop.CancelAsync();
        await running;

        Assert.That(publisher.Published, Is.EqualTo(new[] { message.Id }));
    }

    [Test]
    public async Task Lane_in_which_another_host_goes_on_is_no_obstacle(CancellationToken cancellationToken)
    {
        var message = Keyed("c-1");
        var number = await AddAsync([message, Keyed("c-1")], cancellationToken);
        var lane = new OutboxLane(new OutboxPass(number, Table, Database, new Publisher()), new SemaphoreSlim(1), _time);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task running;

        await using (await TakeAsync(number, cancellationToken))
        {
            lane.Wake();
            running = lane.RunAsync(stop.Token);
            await PassAsync(TimeSpan.FromSeconds(20), cancellationToken);
            await Shop.ExecuteAsync($"delete from esb.transaction_outbox where message_id = '{message.Id}'");
            await PassAsync(TimeSpan.FromSeconds(20), cancellationToken);

            Assert.That(lane.Obstacle, Is.Null);
        }

        await stop.CancelAsync();
        await running;
    }

    // As another host does for a pass.
    private async Task<IAsyncDisposable> TakeAsync(short lane, CancellationToken cancellationToken)
    {
        var rented = await Database.RentAsync("shop", TimeSpan.FromSeconds(10), cancellationToken);
        await rented.Connection.BeginTransactionAsync(IsolationLevel.ReadCommitted, cancellationToken);
        Assert.That((await Table.TryLockAsync(rented.Connection, lane, cancellationToken)).IsTaken, Is.True);
        return rented; // which is rolled back when it goes back to its pool
    }

    private async Task PassAsync(TimeSpan time, CancellationToken cancellationToken)
    {
        for (var end = _time.GetUtcNow() + time; _time.GetUtcNow() < end; )
            await StepAsync(cancellationToken);
    }

    private async Task UntilAsync(Func<bool> condition, CancellationToken cancellationToken)
    {
        while (!condition())
            await StepAsync(cancellationToken);
    }

    // Only once the lane waits: a look at the database takes no time here.
    private async Task StepAsync(CancellationToken cancellationToken)
    {
        for (var look = 0; look < 100 && _time.Waiting == 0; look++)
            await Task.Delay(1, cancellationToken);
        _time.Advance(TimeSpan.FromMilliseconds(250));
    }
}
