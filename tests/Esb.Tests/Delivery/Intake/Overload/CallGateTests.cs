using Esb.Core.Errors;
using Esb.Delivery.Intake.Overload;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery.Intake.Overload;

public sealed class CallGateTests
{
    private readonly ManualTime _time = new();

    [Test]
    public async Task Call_that_finds_no_place_waits_for_one()
    {
        var gate = new CallGate(1, _time);
        await gate.EnterAsync(CancellationToken.None);

        var waiting = gate.EnterAsync(CancellationToken.None).AsTask();
        Assert.That(waiting.IsCompleted, Is.False);
        gate.Leave();

        await waiting;
        Assert.That(gate.Waiting, Is.Zero);
    }

    [Test]
    public async Task Call_that_waits_too_long_is_turned_away()
    {
        var gate = new CallGate(1, _time);
        await gate.EnterAsync(CancellationToken.None);

        var waiting = gate.EnterAsync(CancellationToken.None).AsTask();
        _time.Advance(CallGate.LongestWait);

        var overload = Assert.ThrowsAsync<EsbException>(() => waiting);
        Assert.That((overload.Code, overload.Kind), Is.EqualTo(("ESB-OVERLOAD", FaultKind.Unavailable)));
        Assert.That(gate.Waiting, Is.Zero);
    }

    [Test]
    public async Task Call_that_finds_the_queue_full_is_turned_away_at_once()
    {
        var gate = new CallGate(2, _time);
        for (var call = 0; call < 4; call++)
            _ = gate.EnterAsync(CancellationToken.None).AsTask();

        Assert.That(async () => await gate.EnterAsync(CancellationToken.None), Throws.InstanceOf<EsbException>());
        gate.Leave();
        gate.Leave();
        await Eventually.HoldsAsync(() => gate.Waiting == 0, "the two that waited", CancellationToken.None);
    }

    [Test]
    public async Task Caller_that_hangs_up_while_it_waits_leaves_the_queue()
    {
        var gate = new CallGate(1, _time);
        await gate.EnterAsync(CancellationToken.None);
        using var gone = new CancellationTokenSource();

        var waiting = gate.EnterAsync(gone.Token).AsTask();
        await gone.CancelAsync();

        Assert.That(() => waiting, Throws.InstanceOf<OperationCanceledException>());
        Assert.That(gate.Waiting, Is.Zero);
    }

    [Test]
    public async Task Drained_gate_has_let_every_call_out()
    {
        var gate = new CallGate(2, _time);
        await gate.EnterAsync(CancellationToken.None);

        var drained = gate.DrainAsync(CancellationToken.None);
        Assert.That(drained.IsCompleted, Is.False);
        gate.Leave();

        await drained;
    }
}
