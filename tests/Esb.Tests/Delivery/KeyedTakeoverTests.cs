using Esb.Core.Topics;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery;

/// <summary>A lane changes hosts, and none works on a line that is another's.</summary>
public sealed class KeyedTakeoverTests : KeyedDeliveryFixture
{
    [Test, CancelAfter(30_000)]
    public async Task New_session_finds_what_is_parked(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);
        await DeliverAsync("a", 1, cancellationToken);

        Source = new DeliverySource(0, Guid.NewGuid(), CancellationToken.None);
        await DeliverAsync("a", 2, cancellationToken);

        Assert.That(Sent(), Is.EqualTo("1"));
        Assert.That(await LineAsync("a"), Is.EqualTo("1 2"));
    }

    [Test, CancelAfter(10_000)]
    public async Task Lane_is_taken_over_once_by_deliveries_of_several_keys_that_begin_at_once(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        string[] keys = ["a", "b", "c", "d"];
        foreach (var _ in keys)
            Outside.Fails(isTransient: false);

        var settlements = await Task.WhenAll(keys.Select((key, number) => DeliverAsync(key, number, cancellationToken)));

        Assert.That(settlements, Is.All.EqualTo(Settlement.Done), "none of them fenced another off");
        foreach (var (key, number) in keys.Select((key, number) => (key, number)))
            Assert.That(await LineAsync(key), Is.EqualTo($"{number}"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Host_whose_lane_was_taken_over_touches_no_line_any_more(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        Outside.Fails(isTransient: false);
        await DeliverAsync("a", 1, cancellationToken);
        await Store.TakeLaneAsync("an-endpoint", 0, cancellationToken); // another host

        var joining = DeliverAsync("a", 2, cancellationToken);
        await AdvanceUntilAsync(joining, TimeSpan.FromSeconds(1), cancellationToken);
        var other = DeliverAsync("b", 3, cancellationToken);
        await AdvanceUntilAsync(other, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That((joining.Result, other.Result), Is.EqualTo((Settlement.Return, Settlement.Return)));
        Assert.That(Sent(), Is.EqualTo("1"));
        Assert.That(await LineAsync("a"), Is.EqualTo("1"));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-ORD-3")]
    public async Task Host_that_stood_still_asks_whether_the_lane_is_still_its_own_before_it_sends(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        await DeliverAsync("a", 1, cancellationToken);
        await Store.TakeLaneAsync("an-endpoint", 0, cancellationToken); // another host, meanwhile

        Time.Skip(TimeSpan.FromSeconds(45));
        var late = DeliverAsync("a", 2, cancellationToken);
        await AdvanceUntilAsync(late, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(late.Result, Is.EqualTo(Settlement.Return));
        Assert.That(Sent(), Is.EqualTo("1"), "no effect of a zombie");
    }

    [Test, CancelAfter(30_000)]
    public async Task Lost_channel_ends_a_delivery_without_parking_it(CancellationToken cancellationToken)
    {
        await StartAsync(ByKey);
        using var lost = new CancellationTokenSource();
        Source = new DeliverySource(0, Guid.NewGuid(), lost.Token);
        Outside.Takes(token => Task.Delay(Timeout.Infinite, token));

        var delivery = DeliverAsync("a", 1, cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 1, "it is being sent", cancellationToken);
        await lost.CancelAsync();

        Assert.That(await delivery, Is.EqualTo(Settlement.Return));
        Assert.That(await LineAsync("a"), Is.Empty);
    }
}
