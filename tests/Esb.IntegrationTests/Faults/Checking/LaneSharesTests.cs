namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>The shares of lanes by deliveries made by hand.</summary>
public sealed class LaneSharesTests
{
    private static readonly DateTimeOffset Noon = new(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);

    [Test]
    public void Shares_are_even_from_the_last_delivery_that_a_host_took_over()
    {
        LaneDelivery[] deliveries = [By("a", 0, 1), By("a", 1, 2), By("a", 0, 11), By("b", 1, 14), By("a", 0, 15)];

        Assert.That(LaneShares.EvenFrom(deliveries, 2, ["a", "b"], Noon.AddSeconds(10)), Is.EqualTo(Noon.AddSeconds(14)));
    }

    [Test]
    public void Lane_that_comes_back_to_the_wrong_host_is_not_shared_evenly()
    {
        LaneDelivery[] deliveries = [By("a", 0, 1), By("a", 1, 2), By("b", 1, 14), By("a", 1, 15)];

        Assert.That(LaneShares.EvenFrom(deliveries, 2, ["a", "b"], Noon.AddSeconds(10)), Is.Null);
    }

    [Test]
    public void Three_hosts_share_four_lanes_with_one_or_two_each()
    {
        LaneDelivery[] deliveries = [By("a", 0, 1), By("b", 1, 2), By("c", 2, 3), By("c", 3, 4)];

        Assert.Multiple(() =>
        {
            Assert.That(LaneShares.EvenFrom(deliveries, 4, ["a", "b", "c"], Noon), Is.EqualTo(Noon.AddSeconds(4)));
            Assert.That(LaneShares.EvenFrom(deliveries, 4, ["a", "b"], Noon), Is.Null, "a host that is gone has lanes");
        });
    }

    private static LaneDelivery By(string host, int lane, int second) => new(lane, host, Noon.AddSeconds(second));
}
