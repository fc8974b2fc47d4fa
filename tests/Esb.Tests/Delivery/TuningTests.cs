using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Delivery.Control;
using Esb.Tests.Fakes;
using NSubstitute;

namespace Esb.Tests.Delivery;

public sealed class TuningTests : DeliveryFixture
{
    [Test, CancelAfter(10_000)]
    public async Task Numbers_change_while_the_endpoint_works_and_status_shows_both(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());

        await Controller.TuneAsync(new EndpointTuning { PoolSize = 250, ProcessingThreads = 30 }, cancellationToken);

        await Subscription.Received(1).TuneAsync(30, 60, false, Arg.Any<CancellationToken>());
        var status = Controller.Status;
        Assert.That(status.Pool!.Maximum, Is.EqualTo(250));
        Assert.That(status.Current, Is.EqualTo(new EndpointTuning { PoolSize = 250, ProcessingThreads = 30, Prefetch = 60, Paused = false }));
        Assert.That(status.Configured, Is.EqualTo(new EndpointTuning { PoolSize = 1, ProcessingThreads = 1, Prefetch = 32, Paused = false }));
    }

    [Test, CancelAfter(10_000)]
    public async Task Pool_alone_changes_without_touching_the_subscription(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Prefetch = 50 });

        await Controller.TuneAsync(new EndpointTuning { PoolSize = 5 }, cancellationToken);

        await Subscription.DidNotReceiveWithAnyArgs().TuneAsync(default, default, default, default);
    }

    [Test, CancelAfter(10_000)]
    public async Task Pausing_gives_back_what_waits_and_is_told_apart_from_an_outage(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        Outside.Fails(isTransient: false);
        var standing = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Stopped, "the endpoint stops", cancellationToken);

        await Controller.TuneAsync(new EndpointTuning { Paused = true }, cancellationToken);
        var paused = Controller.Status.State;
        var settlement = await standing;
        await Controller.TuneAsync(new EndpointTuning { Paused = false }, cancellationToken);

        Assert.That(settlement, Is.EqualTo(Settlement.Return));
        Assert.That(paused, Is.EqualTo(EndpointState.PausedByOperator));
        Assert.That(await DeliverAsync(Some.Message(), cancellationToken), Is.EqualTo(Settlement.Done));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
    }

    [Test, CancelAfter(10_000)]
    public async Task Call_of_a_paused_endpoint_is_refused_until_it_goes_on(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        await Controller.TuneAsync(new EndpointTuning { Paused = true }, cancellationToken);

        Assert.That(
            async () => await Controller.CallAsync(Some.Message(), unitOfWork: null, cancellationToken),
            Throws.TypeOf<EndpointException>().With.Property("Code").EqualTo("ESB-ENDPOINT-PAUSED").And.Property("IsTransient").True.And.Property("Kind").EqualTo(FaultKind.Unavailable));

        await Controller.TuneAsync(new EndpointTuning { Paused = false }, cancellationToken);
        await Controller.CallAsync(Some.Message(), unitOfWork: null, cancellationToken);
        Assert.That(Outside.Attempts, Has.Count.EqualTo(1));
    }

    [Test]
    public void Pause_of_an_endpoint_that_is_only_called_is_refused()
    {
        Assert.That(EndpointTunings.Check(new TestOutboundConfig(), new EndpointTuning { Paused = true }), Has.One.StartsWith("paused = true: expected an endpoint that subscribes"));
        Assert.That(EndpointTunings.Check(new TestOutboundConfig(), new EndpointTuning { Paused = false }), Is.Empty);
    }

    [TestCase(DeliveryMode.Ordered, 2, null, "poolSize = 2: expected 1, because of delivery \"ordered\"")]
    [TestCase(DeliveryMode.Ordered, null, 2, "processingThreads = 2: expected 1, because of delivery \"ordered\"")]
    [TestCase(DeliveryMode.Parallel, 0, null, "poolSize = 0: expected 1..1000")]
    [TestCase(DeliveryMode.OrderedByKey, null, 1001, "processingThreads = 1001: expected 1..1000")]
    public void What_contradicts_the_delivery_is_refused(DeliveryMode delivery, int? poolSize, int? threads, string expected) =>
        Assert.That(EndpointTunings.Check(new TestOutboundConfig { Delivery = delivery }, new EndpointTuning { PoolSize = poolSize, ProcessingThreads = threads }), Has.One.StartsWith(expected));

    [Test]
    public void Lanes_may_be_worked_on_by_any_number()
    {
        var config = new TestOutboundConfig { Delivery = DeliveryMode.OrderedByKey, Subscribe = [SubjectPattern.Parse("orders.#")!] };

        Assert.That(EndpointTunings.Check(config, new EndpointTuning { PoolSize = 16, ProcessingThreads = 8, Prefetch = 100, Paused = true }), Is.Empty);
    }
}
