using Esb.Core.Errors;
using Esb.Tests.Fakes;
using Esb.Workflows.Processes.Steps.Throttling;

namespace Esb.Tests.Workflows.Processes;

public sealed class ThrottleStepTests
{
    private readonly ManualTime _time = new();

    [Test]
    public void Messages_keep_their_distance_and_a_burst_passes_after_a_quiet_time()
    {
        var turns = new RateTurns(TimeSpan.FromMilliseconds(100), burst: 3, TimeSpan.FromSeconds(1), _time);

        double[] waits = [.. Enumerable.Range(0, 5).Select(_ => turns.Take("").TotalMilliseconds)];
        _time.Skip(TimeSpan.FromSeconds(10));
        double[] later = [.. Enumerable.Range(0, 4).Select(_ => turns.Take("").TotalMilliseconds)];

        Assert.That((waits, later), Is.EqualTo((new double[] { 0, 0, 0, 100, 200 }, new double[] { 0, 0, 0, 100 })));
    }

    [Test]
    public void Message_that_would_wait_too_long_fails_and_takes_no_turn()
    {
        var turns = new RateTurns(TimeSpan.FromSeconds(1), burst: 1, TimeSpan.FromSeconds(2), _time);
        for (var i = 0; i < 3; i++)
            turns.Take("");

        var error = Assert.Throws<EsbException>(() => turns.Take(""))!;
        Assert.Throws<EsbException>(() => turns.Take(""));
        _time.Skip(TimeSpan.FromSeconds(1));

        Assert.That(
            (error.Code, error.Kind, error.IsTransient, error.RetryAfter),
            Is.EqualTo(("ESB-THROTTLE-TIMEOUT", FaultKind.Unavailable, true, (TimeSpan?)TimeSpan.FromSeconds(1)))
        );
        Assert.That(turns.Take("").TotalSeconds, Is.EqualTo(2), "what was refused took no turn");
    }

    [Test]
    public void Each_key_has_a_rate_of_its_own_and_idle_keys_are_forgotten()
    {
        var turns = new RateTurns(TimeSpan.FromSeconds(1), burst: 1, TimeSpan.FromSeconds(2), _time);
        for (var i = 0; i < 9_999; i++)
            Assert.That(turns.Take($"{i}"), Is.EqualTo(TimeSpan.Zero));

        _time.Skip(TimeSpan.FromSeconds(5));
        turns.Take("last");

        Assert.That(turns.Count, Is.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task Step_lets_the_message_pass_in_its_turn(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses(
            """{ "main": [{ "throttle": { "rate": 1000, "per": "1s", "key": { "header": "x-party" } } }, { "set": { "properties": { "went": "on" } } }] }"""
        );

        await processes.RunAsync(Some.Message("a"), cancellationToken);
        var context = await processes.RunAsync(Some.Message("b"), cancellationToken);

        Assert.That(context.GetProperty("went"), Is.EqualTo("on"));
        Assert.That(processes.Describe(), Does.StartWith("throttle(1000)"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Step_without_patience_refuses_what_comes_too_fast(CancellationToken cancellationToken)
    {
        using var processes = new CompiledProcesses("""{ "main": [{ "throttle": { "rate": 1, "per": "1d", "timeout": "0s" } }] }""");

        await processes.RunAsync(Some.Message("a"), cancellationToken);

        Assert.That(
            Assert.ThrowsAsync<EsbException>(() => processes.RunAsync(Some.Message("b"), cancellationToken))!.Code,
            Is.EqualTo("ESB-THROTTLE-TIMEOUT")
        );
    }
}
