using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery;

public sealed class OutageTests : DeliveryFixture
{
    [Test, CancelAfter(30_000)]
    public async Task Outage_pauses_the_endpoint_and_probes_until_theOutside_is_back(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Fails(times: 2, isOutage: true);

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Paused, "the endpoint pauses", cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(delivery.Result, Is.EqualTo(Settlement.Done));
            Assert.That(Outside.Attempts.Select(attempt => attempt.Attempt), Is.All.EqualTo(1), "an outage is no attempt");
            Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
            Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Delivered }));
        });
    }

    [Test, CancelAfter(30_000)]
    public async Task While_paused_only_one_delivery_at_aTime_probes(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { PoolSize = 10, ProcessingThreads = 10 });
        Outside.Fails(isOutage: true);
        var first = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Paused, "the endpoint pauses", cancellationToken);

        var others = Enumerable.Range(0, 9).Select(_ => DeliverAsync(Some.Message(), cancellationToken)).ToList();
        var before = Outside.Attempts.Count;
        await AdvanceUntilAsync(Task.WhenAll(others.Append(first)), TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(before, Is.EqualTo(1), "nobody but the probe tries while the outside is away");
        Assert.That(Outside.Attempts, Has.Count.EqualTo(11));
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_that_is_refused_before_anything_is_sent_does_not_tell_that_the_outside_is_back(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Fails(isOutage: true).Refuses().Fails(isOutage: true);

        var refused = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(refused, TimeSpan.FromSeconds(1), cancellationToken);
        var afterwards = Controller.Status.State;
        var next = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(next, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(((Settlement.Divert)refused.Result).Letter.Code, Is.EqualTo("ESB-TEST-VALUE"));
        Assert.That(
            (afterwards, next.Result, Controller.Status.State),
            Is.EqualTo((EndpointState.Paused, Settlement.Done, EndpointState.Running))
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Time_out_of_a_probe_does_not_open_the_gate(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            }
        );
        Outside.Fails(isOutage: true).Takes(token => Task.Delay(Timeout.Infinite, token));

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(((Settlement.Divert)delivery.Result).Letter.Code, Is.EqualTo("ESB-ENDPOINT-TIMEOUT"));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Paused));
    }

    [Test, CancelAfter(30_000)]
    public async Task Ten_attempts_in_a_row_without_an_answer_close_the_gate(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                PoolSize = 10,
                ProcessingThreads = 10,
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            }
        );
        for (var i = 0; i < 10; i++)
            Outside.Takes(token => Task.Delay(Timeout.Infinite, token));

        var deliveries = Enumerable.Range(0, 10).Select(_ => DeliverAsync(Some.Message(), cancellationToken)).ToList();
        await AdvanceUntilAsync(Task.WhenAll(deliveries), TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Paused));
    }

    [Test, CancelAfter(10_000)]
    public async Task Outside_that_asks_for_more_than_the_last_delay_pauses_the_endpoint(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Fails(retryAfter: TimeSpan.FromMinutes(6));

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);
        var next = DeliverAsync(Some.Message(), cancellationToken);
        Time.Advance(TimeSpan.FromSeconds(359));
        var attemptsBefore = Outside.Attempts.Count;
        await AdvanceUntilAsync(next, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(settlement, Is.InstanceOf<Settlement.Later>().With.Property("Delay").EqualTo(TimeSpan.FromSeconds(300)));
        Assert.That(attemptsBefore, Is.EqualTo(1), "it is left in peace");
        Assert.That(next.Result, Is.EqualTo(Settlement.Done));
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_that_is_held_for_long_goes_back_to_its_queue(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Timeout = TimeSpan.FromHours(1) }); // the clock runs on while something is sent
        Outside.Fails(times: 1000, isOutage: true);

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(30), cancellationToken);

        Assert.That(delivery.Result, Is.EqualTo(Settlement.Return));
        Assert.That(Audit.Kinds, Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public async Task Probe_that_cannot_get_an_instance_leaves_its_turn_to_another(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            }
        );
        Outside.CannotBeMade = true;
        var failing = await DeliverAsync(Some.Message(), cancellationToken);
        Outside.CannotBeMade = false;
        Outside.Fails(isOutage: true);

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(((Settlement.Divert)failing).Letter.Code, Is.EqualTo("ESB-ENDPOINT-FAILED"));
        Assert.That(delivery.Result, Is.EqualTo(Settlement.Done));
    }

    [Test, CancelAfter(30_000)]
    public async Task Outside_that_turns_everything_away_pauses_the_endpoint_and_costs_no_attempt_any_more(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [TimeSpan.FromSeconds(10)] },
            }
        );
        Outside.TurnsAway(times: 11);

        var messages = Enumerable.Range(0, 10).Select(_ => Some.Message()).ToList();
        var settlements = new List<Settlement>();
        foreach (var message in messages)
            settlements.Add(await DeliverAsync(message, cancellationToken));
        var paused = Controller.Status;
        var probe = DeliverAsync(messages[0] with { Attempt = 1 }, cancellationToken); // it has no other attempt left
        await AdvanceUntilAsync(probe, TimeSpan.FromSeconds(1), cancellationToken);
        var back = DeliverAsync(messages[1] with { Attempt = 1 }, cancellationToken);
        await AdvanceUntilAsync(back, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(
                settlements.Cast<Settlement.Later>().Select(later => later.Attempt),
                Is.EqualTo(new[] { 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 }),
                "the last one shows an outage"
            );
            Assert.That((paused.State, paused.Reason), Is.EqualTo((EndpointState.Paused, "Nobody serves this now.")));
            Assert.That(
                ((Settlement.Later)probe.Result, back.Result),
                Is.EqualTo((new Settlement.Later(TimeSpan.FromSeconds(10), 1), Settlement.Done))
            );
            Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
            Assert.That(Audit.Kinds.Count(kind => kind == AuditKind.Failed), Is.EqualTo(9));
        });
    }

    [Test, CancelAfter(30_000)]
    public async Task Good_answer_in_between_begins_the_count_of_those_turned_away_anew(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            }
        );
        Outside.TurnsAway(times: 9).Answers(Some.Message()).TurnsAway(times: 9);

        for (var i = 0; i < 19; i++)
            await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(Outside.Attempts, Has.Count.EqualTo(19));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
    }

    [Test, CancelAfter(30_000)]
    public async Task One_message_that_is_turned_away_each_time_is_given_up_and_pauses_nobody(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 12, Delays = [] },
            }
        );
        Outside.TurnsAway(times: 13);

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(((Settlement.Divert)settlement).Letter.Attempts, Is.EqualTo(13));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_that_is_turned_away_while_paused_lets_another_go_before_which_opens_the_gate(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [TimeSpan.FromSeconds(10)] },
            }
        );
        Outside.TurnsAway(times: 10);
        for (var i = 0; i < 10; i++)
            await DeliverAsync(Some.Message(), cancellationToken);
        Outside.TurnsAway();
        var first = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(first, TimeSpan.FromSeconds(1), cancellationToken);

        var second = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(second, TimeSpan.FromSeconds(1), cancellationToken);
        var again = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That((((Settlement.Later)first.Result).Attempt, second.Result, again), Is.EqualTo((0, Settlement.Done, Settlement.Done)));
    }

    [Test, CancelAfter(10_000)]
    public async Task Endpoint_without_delays_holds_what_is_turned_away_while_paused(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            }
        );
        Outside.TurnsAway(times: 13);
        for (var i = 0; i < 9; i++)
            await DeliverAsync(Some.Message(), cancellationToken);

        var held = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(held, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(held.Result, Is.EqualTo(Settlement.Done));
        Assert.That(Outside.Attempts.TakeLast(5).Select(attempt => attempt.Attempt), Is.All.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task Pause_lasts_as_long_as_those_who_turn_away_ask(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [TimeSpan.FromSeconds(60)] },
            }
        );
        Outside.TurnsAway(times: 10, retryAfter: TimeSpan.FromSeconds(45));
        for (var i = 0; i < 10; i++)
            await DeliverAsync(Some.Message(), cancellationToken);

        var next = DeliverAsync(Some.Message(), cancellationToken);
        Time.Advance(TimeSpan.FromSeconds(44));
        var early = Outside.Attempts.Count;
        await AdvanceUntilAsync(next, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That((early, next.Result), Is.EqualTo((10, Settlement.Done)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Probe_that_is_turned_away_does_not_open_the_gate_of_an_outside_that_was_unreachable(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [TimeSpan.FromSeconds(10)] },
            }
        );
        Outside.Fails(isOutage: true).TurnsAway();

        var probe = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(probe, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(((Settlement.Later)probe.Result).Attempt, Is.EqualTo(1), "one alone shows nothing: it may be about the message");
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Paused));
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_that_is_turned_away_while_paused_gets_its_fault(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            }
        );
        Outside.TurnsAway(times: 11);
        for (var i = 0; i < 9; i++)
            await DeliverAsync(Some.Message(), cancellationToken);

        await RequestAsync(Some.Message(), cancellationToken);
        var first = Replies.Single().Headers[EsbHeaders.Fault];
        await RequestAsync(Some.Message(), cancellationToken);

        Assert.That((first, Replies[1].Headers[EsbHeaders.Fault]), Is.EqualTo(("ESB-TEST-AWAY", "ESB-ENDPOINT-PAUSED")));
    }
}
