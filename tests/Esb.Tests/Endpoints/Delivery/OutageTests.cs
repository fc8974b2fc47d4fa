using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Delivery;

public sealed class OutageTests : DeliveryFixture
{
    [Test, CancelAfter(10_000)]
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

    [Test, CancelAfter(10_000)]
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

    [Test, CancelAfter(10_000)]
    public async Task Time_out_of_a_probe_does_not_open_the_gate(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Retry = new RetryConfig { Immediate = 0, Delays = [] } });
        Outside.Fails(isOutage: true).Takes(token => Task.Delay(Timeout.Infinite, token));

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(((Settlement.Divert)delivery.Result).Letter.Code, Is.EqualTo("ESB-ENDPOINT-TIMEOUT"));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Paused));
    }

    [Test, CancelAfter(10_000)]
    public async Task Ten_attempts_in_a_row_without_an_answer_close_the_gate(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { PoolSize = 10, ProcessingThreads = 10, Retry = new RetryConfig { Immediate = 0, Delays = [] } });
        for (var i = 0; i < 10; i++) Outside.Takes(token => Task.Delay(Timeout.Infinite, token));

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

    [Test, CancelAfter(10_000)]
    public async Task Message_that_is_held_for_long_goes_back_to_its_queue(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Fails(times: 1000, isOutage: true);

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(30), cancellationToken);

        Assert.That(delivery.Result, Is.EqualTo(Settlement.Return));
        Assert.That(Audit.Kinds, Is.Empty);
    }

    [Test, CancelAfter(10_000)]
    public async Task Probe_that_cannot_get_an_instance_leaves_its_turn_to_another(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Retry = new RetryConfig { Immediate = 0, Delays = [] } });
        Outside.CannotBeMade = true;
        var failing = await DeliverAsync(Some.Message(), cancellationToken);
        Outside.CannotBeMade = false;
        Outside.Fails(isOutage: true);

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(((Settlement.Divert)failing).Letter.Code, Is.EqualTo("ESB-ENDPOINT-FAILED"));
        Assert.That(delivery.Result, Is.EqualTo(Settlement.Done));
    }
}
