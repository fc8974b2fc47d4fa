using Esb.Topics.RabbitMq.Receiving;
using NUnit.Framework;

namespace Esb.Tests.Topics.RabbitMq.Receiving;

public sealed class LaneSharesTests
{
    [TestCase(8, 1), TestCase(8, 2), TestCase(8, 3), TestCase(5, 4), TestCase(2, 7), TestCase(64, 10)]
    public void Shares_of_hosts_differ_by_one_lane_at_most(int lanes, int hosts)
    {
        var ids = Enumerable.Range(0, hosts).Select(_ => Guid.NewGuid()).ToList();

        var shares = LaneShares.Of("orders-out", lanes, ids);
        var counts = ids.Select(host => shares.Count(share => share == host)).ToList();

        Assert.That(shares, Has.Count.EqualTo(lanes));
        Assert.That(counts.Max() - counts.Min(), Is.LessThanOrEqualTo(1));
    }

    [Test]
    public void Every_host_comes_to_the_same_answer_in_whatever_order_it_heard_of_the_others()
    {
        var ids = Enumerable.Range(0, 5).Select(_ => Guid.NewGuid()).ToList();

        Assert.That(
            LaneShares.Of("orders-out", 16, ids.AsEnumerable().Reverse().ToList()),
            Is.EqualTo(LaneShares.Of("orders-out", 16, ids))
        );
    }

    [Test]
    public void Without_hosts_there_are_no_shares() => Assert.That(LaneShares.Of("orders-out", 8, []), Is.Empty);
}
