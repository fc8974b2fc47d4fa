using Esb.Core.Messages;
using Esb.Tests.Fakes;
using Esb.Topics.RabbitMq.Replies;

namespace Esb.Tests.Topics.RabbitMq.Replies;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class RequestClockTests
{
    private readonly ManualTime _time = new();
    private RequestClock _clock = null!;

    [SetUp]
    public void Start() => _clock = new RequestClock(_time);

    [TearDown]
    public void Stop() => _clock.Dispose();

    [TestCase(1)]
    [TestCase(20)]
    [TestCase(999)]
    [TestCase(60_000)]
    [TestCase(3_600_000)]
    public void Request_ends_when_its_time_is_up_and_not_before(int milliseconds)
    {
        _time.Advance(TimeSpan.FromMilliseconds(7));
        var request = Add(milliseconds);

        _time.Advance(TimeSpan.FromMilliseconds(milliseconds - 1));
        Assert.That(request.Task.IsCompleted, Is.False, "not before");
        _time.Advance(TimeSpan.FromMilliseconds(41));

        Assert.That(request.Task.Exception?.InnerException, Is.InstanceOf<TimeoutException>());
        Assert.That(_clock.Count, Is.Zero);
    }

    [Test]
    public void Requests_end_in_the_order_of_their_times()
    {
        var (late, soon, later) = (Add(30_000), Add(100), Add(30_001 + 20 * 512));

        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.That((soon.Task.IsCompleted, late.Task.IsCompleted, later.Task.IsCompleted), Is.EqualTo((true, false, false)));
        _time.Advance(TimeSpan.FromSeconds(30));

        Assert.That(
            (late.Task.IsCompleted, later.Task.IsCompleted),
            Is.EqualTo((true, false)),
            "it stands on the same tick, a round later"
        );
    }

    [Test]
    public void Request_that_has_its_reply_is_let_alone()
    {
        var request = Add(100);
        request.SetResult(EsbMessage.Create(MessageBody.FromText("yes"), _time));

        _clock.Remove(request);
        _clock.Remove(request);
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.That((_clock.Count, request.Task.IsCompletedSuccessfully), Is.EqualTo((0, true)));
    }

    [Test]
    public void Clock_that_stood_still_goes_on()
    {
        Add(100);
        _time.Advance(TimeSpan.FromHours(1));

        var next = Add(200);
        _time.Advance(TimeSpan.FromMilliseconds(199));
        Assert.That(next.Task.IsCompleted, Is.False);
        _time.Advance(TimeSpan.FromMilliseconds(41));

        Assert.That(next.Task.IsFaulted, Is.True);
    }

    private WaitingRequest Add(int milliseconds)
    {
        var request = new WaitingRequest(Guid.NewGuid().ToString());
        _clock.Add(request, TimeSpan.FromMilliseconds(milliseconds));
        return request;
    }
}
