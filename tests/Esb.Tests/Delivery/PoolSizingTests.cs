using Esb.Core.Pooling;
using Esb.Delivery.Outbound;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery;

/// <summary>The advice on the size of a pool follows from what was in use, a third more than that.</summary>
public sealed class PoolSizingTests
{
    private readonly ManualTime _time = new();

    [Test]
    public void Pool_that_was_never_needed_whole_is_told_what_would_do()
    {
        var pool = new PoolStatus(Maximum: 100, Created: 12, InUse: 3, Waiting: 0, Waits: 0) { Peak = 12 };

        Assert.That(
            PoolSizing.Of(pool, Demand(sends: 600, seconds: 0.5)),
            Is.EqualTo("12 of 100 instances were ever in use, 5 in the busiest minute; 16 would do")
        );
    }

    [Test]
    public void Pool_whose_callers_wait_is_told_to_grow()
    {
        var pool = new PoolStatus(Maximum: 10, Created: 10, InUse: 10, Waiting: 5, Waits: 80) { Peak = 10 };

        Assert.That(PoolSizing.Of(pool, Demand(sends: 600, seconds: 1)), Is.EqualTo("all 10 instances are in use, 5 wait; 20 would do"));
    }

    [Test]
    public void Nothing_is_said_of_a_pool_that_fits_or_that_is_hardly_used_yet()
    {
        var fits = new PoolStatus(Maximum: 16, Created: 12, InUse: 3, Waiting: 0, Waits: 0) { Peak = 12 };
        var large = fits with { Maximum = 100 };

        Assert.That(PoolSizing.Of(fits, Demand(sends: 600, seconds: 0.5)), Is.Null);
        Assert.That(PoolSizing.Of(large, Demand(sends: 99, seconds: 0.5)), Is.Null);
    }

    // Sends of so many seconds each within a minute.
    private SendDemand Demand(int sends, double seconds)
    {
        var demand = new SendDemand(_time);
        for (var i = 0; i < sends; i++)
            demand.Add(TimeSpan.FromSeconds(seconds));
        return demand;
    }
}
