using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery;

public sealed class OrderedDeliveryTests : DeliveryFixture
{
    private static readonly OperatorDecision Decision = new("ada", "paid by hand");

    [Test, CancelAfter(30_000)]
    public async Task Ordered_endpoint_stands_at_the_message_that_fails_and_says_so(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        Outside.Fails(isTransient: false);

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Stopped, "the endpoint stops", cancellationToken);

        Assert.That(Controller.Status.Reason, Does.Contain("ESB-TEST-FAILED"));
        Assert.That(delivery.IsCompleted, Is.False, "the message is neither acknowledged nor passed over");
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(60), cancellationToken);
        Assert.That(delivery.Result, Is.EqualTo(Settlement.Done));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
    }

    [Test, CancelAfter(30_000), Property("Case", "AUD-02")]
    public async Task Ordered_endpoint_says_why_it_stands_without_what_is_masked_in_the_message(CancellationToken cancellationToken)
    {
        Audit.Mask = new SecretBodies();
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        Outside.Fails(isTransient: false);

        var delivery = DeliverAsync(Some.Message("failed"), cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Stopped, "the endpoint stops", cancellationToken);

        Assert.That(Controller.Status.Reason, Does.EndWith("ESB-TEST-FAILED: It ****."));
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(60), cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Ordered_endpoint_waits_in_place_between_attempts(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        Outside.Fails(times: 3);

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(delivery.Result, Is.EqualTo(Settlement.Done));
        Assert.That(Outside.Attempts.Select(attempt => attempt.Attempt), Is.EqualTo(new[] { 1, 2, 3, 4 }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Stopping_gives_a_waiting_message_back(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        Outside.Fails(isTransient: false);
        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Stopped, "the endpoint stops", cancellationToken);

        await Controller.StopAsync(cancellationToken);

        Assert.That(await delivery, Is.EqualTo(Settlement.Return));
    }

    [Test, CancelAfter(10_000)]
    public async Task Ordered_endpoint_that_stands_for_long_gives_the_message_back_before_the_broker_takes_it(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        Outside.Fails(times: 100, isTransient: false);
        var started = Time.GetUtcNow();

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That(delivery.Result, Is.EqualTo(Settlement.Return));
        Assert.That(Time.GetUtcNow() - started, Is.LessThan(TimeSpan.FromMinutes(20)));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Stopped), "it is the next one again");
    }

    [Test, CancelAfter(30_000)]
    public async Task Ordered_delivery_ends_when_its_channel_is_lost(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        using var lost = new CancellationTokenSource();
        Outside.Takes(token => Task.Delay(Timeout.Infinite, token));

        var delivery = DeliverAsync(
            Delivery(Some.Message()) with
            {
                Source = new DeliverySource(0, Guid.NewGuid(), lost.Token),
            },
            cancellationToken
        );
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 1, "it is being sent", cancellationToken);
        await lost.CancelAsync();

        Assert.That(await delivery, Is.EqualTo(Settlement.Return));
    }

    [Test, CancelAfter(30_000)]
    public async Task Ordered_endpoint_goes_on_with_the_next_message_when_an_operator_gives_one_up(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        Outside.Fails(isTransient: false);
        var message = Some.Message();
        var delivery = DeliverAsync(message, cancellationToken);
        await Eventually.HoldsAsync(
            () => Controller.Status.StandsAt?.MessageId == message.Id,
            "the endpoint stands at it",
            cancellationToken
        );

        var other = Controller.TryMoveOn(Guid.NewGuid(), discard: true, Decision);
        await Eventually.HoldsAsync(() => Controller.TryMoveOn(message.Id, discard: true, Decision), "it moves on", cancellationToken);

        Assert.That(other, Is.False);
        Assert.That(await delivery, Is.EqualTo(Settlement.Done));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Failed, AuditKind.Discarded }));
        Assert.That(
            (Audit.Facts[^1].Code, Audit.Facts[^1].Reason, Audit.Facts[^1].Fields["operator"]),
            Is.EqualTo(("ESB-TEST-FAILED", "paid by hand", "ada"))
        );
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
    }
}
