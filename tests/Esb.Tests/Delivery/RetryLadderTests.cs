using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Delivery.Attempts;

namespace Esb.Tests.Delivery;

public sealed class RetryLadderTests
{
    private readonly RetryLadder _ladder = new(new RetryConfig());

    [TestCase(1, null)]
    [TestCase(2, null)]
    [TestCase(3, 10)]
    [TestCase(4, 60)]
    [TestCase(5, 300)]
    public void Default_ladder_repeats_twice_at_once_and_then_after_growing_delays(int attempt, int? seconds)
    {
        NextAttempt expected = seconds is null ? new NextAttempt.Now() : new NextAttempt.After(TimeSpan.FromSeconds(seconds.Value));

        Assert.That(_ladder.After(attempt, Failure()), Is.EqualTo(expected));
    }

    [Test]
    public void Sixth_failure_leaves_no_attempt() => Assert.That(_ladder.After(6, Failure()), Is.EqualTo(new NextAttempt.None()));

    [Test]
    public void Permanent_failure_leaves_no_attempt() =>
        Assert.That(_ladder.After(1, Failure(isTransient: false)), Is.EqualTo(new NextAttempt.None()));

    [TestCase(5, 10)]
    [TestCase(10, 10)]
    [TestCase(11, 60)]
    [TestCase(3600, 300)]
    public void Retry_after_takes_the_next_rung_up_from_what_is_asked(int asked, int expected) =>
        Assert.That(
            _ladder.After(1, Failure(retryAfter: TimeSpan.FromSeconds(asked))),
            Is.EqualTo(new NextAttempt.After(TimeSpan.FromSeconds(expected)))
        );

    [TestCase(300, null)]
    [TestCase(301, 301)]
    [TestCase(86400, 3600)]
    public void Retry_after_beyond_the_last_rung_pauses_the_endpoint(int asked, int? pause) =>
        Assert.That(_ladder.PauseOf(Failure(retryAfter: TimeSpan.FromSeconds(asked)))?.TotalSeconds, Is.EqualTo((double?)pause));

    [Test]
    public void Retry_after_without_rungs_takes_the_immediate_attempts_behind_the_pause()
    {
        var ladder = new RetryLadder(new RetryConfig { Delays = [] });

        Assert.That(ladder.After(1, Failure(retryAfter: TimeSpan.FromSeconds(5))), Is.EqualTo(new NextAttempt.Now()));
        Assert.That(ladder.PauseOf(Failure(retryAfter: TimeSpan.FromSeconds(5))), Is.EqualTo(TimeSpan.FromSeconds(5)));
    }

    [Test]
    public void Request_is_never_delayed() => Assert.That(_ladder.AfterRequest(3, Failure()), Is.EqualTo(new NextAttempt.None()));

    private static EndpointException Failure(bool isTransient = true, TimeSpan? retryAfter = null) =>
        new("an-endpoint", "ESB-TEST-FAILED", "It failed.", isTransient) { RetryAfter = retryAfter };
}
