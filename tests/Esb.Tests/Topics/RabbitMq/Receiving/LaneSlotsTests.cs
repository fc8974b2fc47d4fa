using Esb.Topics.RabbitMq.Topology;

namespace Esb.Tests.Topics.RabbitMq.Receiving;

[TestFixture]
public sealed class LaneSlotsTests
{
    // What waits on a broker was placed by these: a version that places keys elsewhere breaks their order.
    [TestCase("", "~11")]
    [TestCase("k1", "~114")]
    [TestCase("A-1001", "~0")]
    [TestCase("Größe", "~81")]
    public void Key_keeps_its_slot_for_good(string key, string slot) => Assert.That(LaneSlots.Of(key), Is.EqualTo(new[] { slot }));

    [TestCase(1)]
    [TestCase(8)]
    [TestCase(10)]
    [TestCase(64)]
    public void Every_slot_belongs_to_one_lane_and_shares_are_even(int lanes)
    {
        var shares = Enumerable.Range(0, lanes).Select(lane => LaneSlots.OfLane(lane, lanes).ToList()).ToList();

        Assert.That(shares.SelectMany(slots => slots), Is.Unique.And.Exactly(128).Items);
        Assert.That(shares.Max(slots => slots.Count) - shares.Min(slots => slots.Count), Is.LessThanOrEqualTo(1));
    }

    [Test]
    public void Long_keys_and_many_keys_are_spread_over_all_slots()
    {
        var keys = Enumerable.Range(0, 12_800).Select(i => $"{i}").Append(new string('ä', 10_000));

        var counts = keys.GroupBy(key => LaneSlots.Of(key)[0]).Select(group => group.Count()).ToList();

        Assert.That(counts, Has.Count.EqualTo(128).And.All.InRange(50, 160));
    }
}
