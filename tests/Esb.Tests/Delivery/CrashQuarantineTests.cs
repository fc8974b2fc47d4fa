using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery;

public sealed class CrashQuarantineTests : DeliveryFixture
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(20);

    [Test, CancelAfter(10_000)]
    public async Task After_a_stop_a_queue_is_opened_at_once_and_without_a_mark(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        await Quarantine.StopAsync(cancellationToken);
        await StartAsync(new TestOutboundConfig());

        Assert.That(await DeliverAsync(Some.Message(), cancellationToken), Is.EqualTo(Settlement.Done));
        Assert.That((Runs.Left.IsRunning, Runs.Left.Opening), Is.EqualTo((true, (string?)null)));
    }

    [Test, CancelAfter(30_000)]
    public async Task After_a_death_a_queue_is_opened_with_a_mark_that_goes_once_it_was_read_and_worked_on(
        CancellationToken cancellationToken
    )
    {
        Runs.Left = new HostRun { IsRunning = true };
        await StartAsync(new TestOutboundConfig());

        var first = DeliverAsync(Some.Message(), cancellationToken);
        var before = (Runs.Left.Opening, Runs.Left.Openings, Outside.Attempts.Count);
        await AdvanceUntilAsync(first, Step, cancellationToken);
        await AdvanceUntilAsync(
            Eventually.HoldsAsync(() => Runs.Left.Opening is null, "the mark is taken off", cancellationToken),
            Step,
            cancellationToken
        );

        Assert.That(before, Is.EqualTo((Endpoint, 1, 0)), "it waits until what was prefetched has been read");
        Assert.That(await first, Is.EqualTo(Settlement.Done));
        Assert.That(await DeliverAsync(Some.Message(), cancellationToken), Is.EqualTo(Settlement.Done));
    }

    [Test, CancelAfter(30_000)]
    public async Task Mark_stays_until_the_first_message_that_waits_was_read_however_long_a_busy_machine_takes(
        CancellationToken cancellationToken
    )
    {
        Runs.Left = new HostRun { IsRunning = true };
        Waiting = 1;
        await StartAsync(new TestOutboundConfig());

        await AdvanceByAsync(TimeSpan.FromSeconds(9), cancellationToken);
        var slow = Runs.Left.Opening;
        var first = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(first, Step, cancellationToken);

        Assert.That((slow, Runs.Left.Opening), Is.EqualTo((Endpoint, (string?)null)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_that_another_host_took_keeps_the_mark_for_ten_seconds(CancellationToken cancellationToken)
    {
        Runs.Left = new HostRun { IsRunning = true };
        Waiting = 1;
        await StartAsync(new TestOutboundConfig());

        var began = Time.GetUtcNow();
        await AdvanceUntilAsync(
            Eventually.HoldsAsync(() => Runs.Left.Opening is null, "the mark is taken off", cancellationToken),
            Step,
            cancellationToken
        );

        Assert.That(Time.GetUtcNow() - began, Is.GreaterThanOrEqualTo(TimeSpan.FromSeconds(10)));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
    }

    [Test, CancelAfter(30_000)]
    public async Task Endpoint_at_which_two_processes_in_a_row_died_is_quarantined_until_it_is_resumed_however_often_the_host_starts(
        CancellationToken cancellationToken
    )
    {
        Runs.Left = new HostRun { IsRunning = true };
        await StartAsync(new TestOutboundConfig()); // dies
        await StartAsync(new TestOutboundConfig()); // dies
        await StartAsync(new TestOutboundConfig());
        var (state, reason, notices) = (Controller.Status.State, Controller.Status.Reason, Quarantine.Notices.ToList());
        await Controller.StopAsync(cancellationToken);
        await Quarantine.StopAsync(cancellationToken);
        Wanted = null;
        await StartAsync(new TestOutboundConfig());
        var later = (Controller.Status.State, Wanted);

        await Controller.TuneAsync(new EndpointTuning { Paused = false }, cancellationToken);
        await AdvanceUntilAsync(
            Eventually.HoldsAsync(
                () => Wanted is not null && Runs.Left.Opening is null && Controller.Status.State == EndpointState.Running,
                "it is open",
                cancellationToken
            ),
            Step,
            cancellationToken
        );

        Assert.That((state, later), Is.EqualTo((EndpointState.Quarantined, (EndpointState.Quarantined, (Subscription?)null))));
        Assert.That(reason, Does.StartWith("ESB-DELIVERY-CRASH: the process died 2 times"));
        Assert.That(notices, Has.One.StartsWith("ESB-DELIVERY-CRASH: endpoint 'an-endpoint' is quarantined"));
        Assert.That(
            (Controller.Status.State, Runs.Left.Quarantined.Count, Quarantine.Notices.Count()),
            Is.EqualTo((EndpointState.Running, 0, 0))
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Death_at_another_endpoint_in_between_breaks_the_row(CancellationToken cancellationToken)
    {
        Runs.Left = new HostRun
        {
            IsRunning = true,
            Opening = "another",
            Openings = 1,
        };
        await StartAsync(new TestOutboundConfig());

        Assert.That((Runs.Left.Opening, Runs.Left.Openings), Is.EqualTo((Endpoint, 1)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Death_while_a_message_is_worked_on_is_not_that_of_the_endpoint(CancellationToken cancellationToken)
    {
        Runs.Left = new HostRun
        {
            IsRunning = true,
            Opening = Endpoint,
            Openings = 1,
        };
        await StartAsync(new TestOutboundConfig());
        var during = Runs.Left;
        Outside.Takes(_ =>
        {
            during = Runs.Left;
            return Task.CompletedTask;
        });
        var (before, first) = (Runs.Left, DeliverAsync(Some.Message(), cancellationToken));
        await AdvanceUntilAsync(first, Step, cancellationToken);

        Assert.That((before.Opening, before.Openings), Is.EqualTo((Endpoint, 2)));
        Assert.That(
            (during.IsRunning, during.Opening, during.Openings),
            Is.EqualTo((true, (string?)null, 0)),
            "what came before is forgotten"
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Host_that_stops_before_its_turn_leaves_nothing_behind(CancellationToken cancellationToken)
    {
        Runs.Left = new HostRun { IsRunning = true };
        await StartAsync(new TestOutboundConfig());

        await Controller.StopAsync(cancellationToken);
        await Quarantine.StopAsync(cancellationToken);

        Assert.That(Runs.Left, Is.EqualTo(new HostRun { Quarantined = Runs.Left.Quarantined }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Disk_that_is_full_keeps_no_endpoint_closed(CancellationToken cancellationToken)
    {
        Runs.Left = new HostRun { IsRunning = true };
        Runs.IsFull = true;
        await StartAsync(new TestOutboundConfig());

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, Step, cancellationToken);

        Assert.That(await delivery, Is.EqualTo(Settlement.Done));
    }

    private async Task AdvanceByAsync(TimeSpan time, CancellationToken cancellationToken)
    {
        for (var until = Time.GetUtcNow() + time; Time.GetUtcNow() < until; await Task.Delay(1, cancellationToken))
            if (Time.Waiting > 0)
                Time.Advance(Step);
    }
}
