using Esb.Delivery.Intake;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery.Intake;

public sealed class RefusalPaceTests
{
    [Test]
    public void First_of_each_code_is_due_and_then_one_an_interval()
    {
        var time = new ManualTime();
        var pace = new RefusalPace(time);

        Assert.That(
            (pace.IsDue("A", out _), pace.IsDue("A", out _), pace.IsDue("B", out _), pace.IsDue("A", out _)),
            Is.EqualTo((true, false, true, false))
        );
        time.Advance(RefusalPace.Interval);
        Assert.That(pace.IsDue("A", out var suppressed), Is.True);
        Assert.That(suppressed, Is.EqualTo(2));
    }
}
