using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Delivery.Control;
using Esb.Tests.Fakes;
using NSubstitute;

namespace Esb.Tests.Delivery;

public sealed class TuningTests : DeliveryFixture
{
    [Test, CancelAfter(30_000)]
    public async Task Numbers_change_while_the_endpoint_works_and_status_shows_both(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());

        await Controller.TuneAsync(new EndpointTuning { PoolSize = 250, ProcessingThreads = 30 }, cancellationToken);

        await Subscription.Received(1).TuneAsync(30, 60, false, Arg.Any<CancellationToken>());
        var status = Controller.Status;
        Assert.That(status.Pool!.Maximum, Is.EqualTo(250));
        Assert.That(
            Basics(status.Current!),
            Is.EqualTo(
                new EndpointTuning
                {
                    PoolSize = 250,
                    ProcessingThreads = 30,
                    Prefetch = 60,
                    Paused = false,
                }
            )
        );
        Assert.That(
            Basics(status.Configured!),
            Is.EqualTo(
                new EndpointTuning
                {
                    PoolSize = 1,
                    ProcessingThreads = 1,
                    Prefetch = 32,
                    Paused = false,
                }
            )
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Pool_alone_changes_without_touching_the_subscription(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Prefetch = 50 });

        await Controller.TuneAsync(new EndpointTuning { PoolSize = 5 }, cancellationToken);

        await Subscription.DidNotReceiveWithAnyArgs().TuneAsync(default, default, default, default);
    }

    [Test, CancelAfter(30_000)]
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

    [Test, CancelAfter(30_000)]
    public async Task Call_of_a_paused_endpoint_is_refused_until_it_goes_on(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        await Controller.TuneAsync(new EndpointTuning { Paused = true }, cancellationToken);

        Assert.That(
            async () => await Controller.CallAsync(Some.Message(), unitOfWork: null, cancellationToken),
            Throws
                .TypeOf<EndpointException>()
                .With.Property("Code")
                .EqualTo("ESB-ENDPOINT-PAUSED")
                .And.Property("IsTransient")
                .True.And.Property("Kind")
                .EqualTo(FaultKind.Unavailable)
        );

        await Controller.TuneAsync(new EndpointTuning { Paused = false }, cancellationToken);
        await Controller.CallAsync(Some.Message(), unitOfWork: null, cancellationToken);
        Assert.That(Outside.Attempts, Has.Count.EqualTo(1));
    }

    [Test]
    public void Pause_of_an_endpoint_that_is_only_called_is_refused()
    {
        Assert.That(
            EndpointTunings.Check(new TestOutboundConfig(), new EndpointTuning { Paused = true }),
            Has.One.StartsWith("paused = true: expected an endpoint that subscribes")
        );
        Assert.That(EndpointTunings.Check(new TestOutboundConfig(), new EndpointTuning { Paused = false }), Is.Empty);
    }

    [TestCase(DeliveryMode.Ordered, 2, null, "poolSize = 2: expected 1, because of delivery \"ordered\"")]
    [TestCase(DeliveryMode.Ordered, null, 2, "processingThreads = 2: expected 1, because of delivery \"ordered\"")]
    [TestCase(DeliveryMode.Parallel, 0, null, "poolSize = 0: expected 1..1000")]
    [TestCase(DeliveryMode.OrderedByKey, null, 1001, "processingThreads = 1001: expected 1..1000")]
    public void What_contradicts_the_delivery_is_refused(DeliveryMode delivery, int? poolSize, int? threads, string expected) =>
        Assert.That(
            EndpointTunings.Check(
                new TestOutboundConfig { Delivery = delivery },
                new EndpointTuning { PoolSize = poolSize, ProcessingThreads = threads }
            ),
            Has.One.StartsWith(expected)
        );

    [Test]
    public void Lanes_may_be_worked_on_by_any_number()
    {
        var config = new TestOutboundConfig { Delivery = DeliveryMode.OrderedByKey, Subscribe = [SubjectPattern.Parse("orders.#")!] };

        Assert.That(
            EndpointTunings.Check(
                config,
                new EndpointTuning
                {
                    PoolSize = 16,
                    ProcessingThreads = 8,
                    Prefetch = 100,
                    Paused = true,
                }
            ),
            Is.Empty
        );
    }

    [TestCase(-1, null, null, "rate = -1: expected 0..100000")]
    [TestCase(null, "soon", null, "retry.delays = \"soon\": expected durations")]
    [TestCase(null, "48h", null, "retry.delays = \"48h\": expected durations")]
    [TestCase(null, null, "0s", "circuitBreaker.probe = \"0s\": expected a duration")]
    public void Value_out_of_range_is_refused(int? rate, string? delay, string? probe, string expected)
    {
        var tuning = new EndpointTuning
        {
            Rate = rate,
            Retry = delay is null ? null : new RetryTuning { Delays = [delay] },
            CircuitBreaker = probe is null ? null : new CircuitBreakerTuning { Probe = probe },
        };

        Assert.That(EndpointTunings.Check(new TestOutboundConfig(), tuning), Has.One.StartsWith(expected));
    }

    [Test]
    public void Retries_that_hold_a_message_of_an_ordered_endpoint_too_long_are_refused_as_in_a_file()
    {
        var tuning = new EndpointTuning
        {
            Retry = new RetryTuning { Immediate = 0, Delays = ["14m", "14m"] },
        };

        Assert.That(
            EndpointTunings.Check(new TestOutboundConfig { Delivery = DeliveryMode.Ordered }, tuning),
            Has.One.Contains("half of what the broker waits")
        );
        Assert.That(EndpointTunings.Check(new TestOutboundConfig(), tuning), Is.Empty);
    }

    [Test]
    public void Setting_that_is_tuned_to_its_configured_value_is_not_tuned()
    {
        var configured = EndpointTunings.Of(new TestOutboundConfig());
        var tuned = EndpointTunings.Merge(
            configured,
            new EndpointTuning { PoolSize = 4, Rate = 10 },
            new EndpointTuning { PoolSize = 1, Retry = TuningValues.Of(new RetryConfig()) }
        );

        Assert.That(TuningValues.Of(tuned), Is.EqualTo(new Dictionary<string, string> { ["rate"] = "10" }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Rate_spaces_attempts_from_the_next_one_on(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        await Controller.TuneAsync(new EndpointTuning { Rate = 1 }, cancellationToken);

        var first = DeliverAsync(Some.Message(), cancellationToken);
        var second = DeliverAsync(Some.Message(), cancellationToken);
        var third = DeliverAsync(Some.Message(), cancellationToken);
        await first;
        Assert.That(second.IsCompleted && third.IsCompleted, Is.False, "one attempt a second");

        var before = Time.GetUtcNow();
        await AdvanceUntilAsync(Task.WhenAll(second, third), TimeSpan.FromMilliseconds(100), cancellationToken);
        Assert.That(Time.GetUtcNow() - before, Is.GreaterThanOrEqualTo(TimeSpan.FromSeconds(1.7)));
        Assert.That(Outside.Attempts, Has.Count.EqualTo(3));
    }

    [Test, CancelAfter(30_000)]
    public async Task Circuit_breaker_pauses_after_as_many_failures_as_it_says(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                CircuitBreaker = new CircuitBreakerConfig { Failures = 2 },
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            }
        );
        Outside.TurnsAway(times: 4);

        await DeliverAsync(Some.Message(), cancellationToken);
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
        _ = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Paused, "the endpoint pauses", cancellationToken);
    }

    private static EndpointTuning Basics(EndpointTuning tuning) =>
        tuning with
        {
            Retry = null,
            CircuitBreaker = null,
            Rate = null,
            Audit = null,
        };
}
