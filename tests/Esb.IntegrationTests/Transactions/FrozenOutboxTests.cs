using System.Diagnostics;
using Esb.Endpoints.Sql.Outbox;
using Esb.IntegrationTests.Topics;
using Npgsql;

namespace Esb.IntegrationTests.Transactions;

/// <summary>A host that is frozen, or cut off from the database, in the middle of a pass: another one goes on with its lane. One that only
/// takes its time keeps it.</summary>
[NonParallelizable, Category("WaitsLong")]
internal sealed class FrozenOutboxTests : OutboxFixture
{
    [Test, Category("Faults"), CancelAfter(120_000)]
    public async Task Lane_of_a_host_that_falls_silent_is_taken_over_within_45_s(CancellationToken cancellationToken)
    {
        var (first, second) = (Keyed("c-1"), Keyed("c-1"));
        var number = await AddAsync([first, second], cancellationToken);
        var server = new NpgsqlConnectionStringBuilder(Shop.ConnectionString);
        await using var wire = new TcpProxy(new Uri($"tcp://127.0.0.1:{server.Port}"));
        var cutOff = Shop.Open(
            connection: new NpgsqlConnectionStringBuilder(server.ConnectionString)
            {
                Host = "127.0.0.1",
                Port = wire.Address.Port,
                SslMode = SslMode.Disable,
            }.ConnectionString
        );
        var (begun, confirmed) = (new TaskCompletionSource(), new TaskCompletionSource());
        var silent = new Publisher(_ =>
        {
            begun.TrySetResult();
            return confirmed.Task;
        });
        var pass = new OutboxPass(number, Table, cutOff, silent).RunAsync(new OutboxHolds(), cancellationToken);
        await begun.Task.WaitAsync(cancellationToken);

        wire.Silence();
        var since = Stopwatch.GetTimestamp();
        var other = new Publisher();
        var lane = new OutboxLane(new OutboxPass(number, Table, Database, other), new SemaphoreSlim(1), TimeProvider.System);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var running = lane.RunAsync(stop.Token);
        lane.Wake();
        await Eventually.HoldsAsync(() => other.Published.Count == 2, cancellationToken);
        var waited = Stopwatch.GetElapsedTime(since);
        TestContext.Out.WriteLine($"taken over {waited.TotalSeconds:0.0} s after the silence");
        confirmed.SetResult();
        wire.Cut();

        Assert.That(async () => await pass, Throws.InstanceOf<NpgsqlException>());
        Assert.That(waited, Is.LessThan(TimeSpan.FromSeconds(45)));
        Assert.That(other.Published, Is.EqualTo(new[] { first.Id, second.Id }));
        Assert.That(silent.Published, Is.EqualTo(new[] { first.Id }), "it begins nothing more, since it cannot make itself heard");
        await stop.CancelAsync();
        await running;
    }

    [Test, Category("Faults"), CancelAfter(120_000)]
    public async Task Host_whose_topic_takes_longer_than_30_s_keeps_its_lane(CancellationToken cancellationToken)
    {
        var message = Keyed("c-1");
        var number = await AddAsync([message], cancellationToken);
        var confirmed = new TaskCompletionSource();
        var slow = new Publisher(_ => confirmed.Task);
        var pass = new OutboxPass(number, Table, Database, slow).RunAsync(new OutboxHolds(), cancellationToken);
        var other = new OutboxPass(number, Table, Database, new Publisher());

        for (var since = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(since) < TimeSpan.FromSeconds(35); )
        {
            await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
            Assert.That(await other.RunAsync(new OutboxHolds(), cancellationToken), Is.EqualTo(OutboxPassResult.Busy));
        }

        confirmed.SetResult();

        Assert.That(
            (await pass, await other.RunAsync(new OutboxHolds(), cancellationToken)),
            Is.EqualTo((OutboxPassResult.Published, OutboxPassResult.Empty))
        );
        Assert.That(slow.Published, Is.EqualTo(new[] { message.Id }));
    }
}
