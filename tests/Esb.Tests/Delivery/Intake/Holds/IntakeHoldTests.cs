using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Schedules;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery.Intake.Holds;

/// <summary>An endpoint that opens at 08:00 UTC; it is midnight.</summary>
[CancelAfter(30_000)]
public sealed class IntakeHoldTests
{
    private static readonly AnyInboundConfig Morning = new()
    {
        Name = "shop",
        Schedule = new ScheduleConfig { From = TimeOfDay.Parse("08:00")!, To = TimeOfDay.Parse("18:00")! },
    };

    private ManualTime _time = null!;
    private IntakeHold _hold = null!;

    [SetUp]
    public void CreateHold() => _hold = new IntakeHolds(_time = new ManualTime()).Of("shop");

    [Test]
    public void Caller_outside_of_the_schedule_is_told_when_to_come_back()
    {
        _hold.Keep(Morning);
        _time.Skip(TimeSpan.FromHours(7.5));

        var refusal = Assert.Throws<EsbException>(_hold.Enter);
        _time.Skip(TimeSpan.FromHours(0.5));

        Assert.That(
            (refusal.Code, refusal.Kind, refusal.RetryAfter),
            Is.EqualTo(("ESB-ENDPOINT-CLOSED", FaultKind.Unavailable, TimeSpan.FromMinutes(30)))
        );
        Assert.That(_hold.Enter, Throws.Nothing);
    }

    [Test]
    public void Caller_of_a_paused_endpoint_is_told_to_come_back()
    {
        _hold.Pause(true);

        var refusal = Assert.Throws<EsbException>(_hold.Enter);
        _hold.Pause(false);

        Assert.That((refusal.Code, refusal.RetryAfter), Is.EqualTo(("ESB-ENDPOINT-PAUSED", TimeSpan.FromSeconds(30))));
        Assert.That(_hold.Enter, Throws.Nothing);
    }

    [Test]
    public async Task What_can_wait_waits_until_it_opens(CancellationToken cancellationToken)
    {
        _hold.Keep(Morning);
        var waiting = _hold.WaitAsync(cancellationToken).AsTask();
        await Eventually.HoldsAsync(() => _time.Waiting > 0, "it waits", cancellationToken);

        _time.Advance(TimeSpan.FromHours(7));
        await Eventually.HoldsAsync(() => _time.Waiting > 0, "it has looked, and waits", cancellationToken);
        var before = waiting.IsCompleted;
        _time.Advance(TimeSpan.FromHours(1));

        await waiting.WaitAsync(cancellationToken);
        Assert.That(before, Is.False);
    }

    [Test]
    public async Task What_can_wait_goes_on_as_soon_as_it_is_resumed(CancellationToken cancellationToken)
    {
        _hold.Pause(true);
        var waiting = _hold.WaitAsync(cancellationToken).AsTask();
        var before = (waiting.IsCompleted, _hold.Waiting);

        _hold.Pause(false);

        await waiting.WaitAsync(cancellationToken);
        Assert.That((before, _hold.Waiting), Is.EqualTo(((false, 1), 0)));
    }

    [Test]
    public void Waiting_ends_with_its_token()
    {
        _hold.Pause(true);
        using var ended = new CancellationTokenSource();
        var waiting = _hold.WaitAsync(ended.Token).AsTask();

        ended.Cancel();

        Assert.That(async () => await waiting, Throws.InstanceOf<OperationCanceledException>());
    }

    [Test]
    public async Task Place_that_becomes_free_after_a_pause_is_not_taken(CancellationToken cancellationToken)
    {
        var admission = new Admission(overload: null, audit: null, needsTopics: false, new CallGate(maximum: 1, _time), _hold);
        await admission.WaitAsync(cancellationToken);
        var second = admission.WaitAsync(cancellationToken).AsTask();

        _hold.Pause(true);
        admission.Leave();
        await Eventually.HoldsAsync(() => _hold.Waiting == 1, "it has given the place back", cancellationToken);
        var before = second.IsCompleted;
        _hold.Pause(false);

        await second.WaitAsync(cancellationToken);
        Assert.That(before, Is.False);
    }

    [Test]
    public void Status_shows_what_holds_it()
    {
        var running = new EndpointStatus
        {
            Name = "shop",
            Type = "http-inbound",
            State = EndpointState.Running,
        };
        _hold.Keep(Morning);
        var closed = _hold.Show(running);
        _hold.Pause(true);
        var paused = _hold.Show(running);
        _hold.Pause(false);
        _time.Skip(TimeSpan.FromHours(8));

        Assert.That(
            (closed.State, closed.Reason),
            Is.EqualTo((EndpointState.Paused, "closed by its schedule until 2026-01-01 08:00 +00:00"))
        );
        Assert.That((paused.State, _hold.Show(running)), Is.EqualTo((EndpointState.PausedByOperator, running)));
        Assert.That(_hold.Show(running with { State = EndpointState.Disabled }).State, Is.EqualTo(EndpointState.Disabled));
    }

    [Test]
    public void Pause_by_an_operator_shows_while_the_external_system_is_away()
    {
        var away = new EndpointStatus
        {
            Name = "rows",
            Type = "sql-inbound",
            State = EndpointState.Paused,
            Reason = "the database is not reached",
        };
        var before = _hold.Show(away);

        _hold.Pause(true);

        Assert.That(before, Is.EqualTo(away));
        Assert.That((_hold.Show(away).State, _hold.Show(away).Reason), Is.EqualTo((EndpointState.PausedByOperator, (string?)null)));
    }

    private sealed record AnyInboundConfig : InboundEndpointConfig;
}
