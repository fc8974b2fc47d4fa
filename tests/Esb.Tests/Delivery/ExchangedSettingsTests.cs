using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Delivery.Control;
using Esb.Tests.Fakes;
using NSubstitute;

namespace Esb.Tests.Delivery;

/// <summary>An endpoint goes on with other settings while it works: what is under way ends as it began, and what waits uses the new
/// ones.</summary>
[CancelAfter(30_000)]
public sealed class ExchangedSettingsTests : DeliveryFixture
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private static readonly TestOutboundConfig Parallel = new()
    {
        PoolSize = 2,
        ProcessingThreads = 2,
        Retry = new RetryConfig { Immediate = 0, Delays = [Second] },
    };

    private static readonly TestOutboundConfig Ordered = new()
    {
        Delivery = DeliveryMode.Ordered,
        Retry = new RetryConfig { Immediate = 0, Delays = [TimeSpan.FromHours(1)] },
    };

    private static readonly IMessageCondition Nothing = Filter(accepts: false);

    [Test]
    public async Task Attempt_under_way_ends_on_its_settings_and_holds_back_no_other_message(CancellationToken cancellationToken)
    {
        var fail = new TaskCompletionSource();
        Outside.Takes(_ => fail.Task);
        await StartAsync(Parallel);
        var slow = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 1, "to begin", cancellationToken);

        await ChangeAsync(Parallel with { Retry = Parallel.Retry with { Immediate = 1 } }, Nothing);
        var other = await DeliverAsync(Some.Message(), cancellationToken);
        var isUnderWay = !slow.IsCompleted;
        fail.SetException(Failure);
        var settlement = await slow;

        Assert.That((isUnderWay, other), Is.EqualTo((true, Settlement.Done)));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Filtered, AuditKind.Failed }));
        Assert.That(settlement, Is.TypeOf<Settlement.Later>(), "it had no immediate repetition");
        Assert.That(Outside.Attempts, Has.Count.EqualTo(1));
        await Subscription.DidNotReceiveWithAnyArgs().TuneAsync(default, default, default, default);
        await Subscription.DidNotReceiveWithAnyArgs().DisposeAsync();
    }

    [Test]
    public async Task Message_that_waits_in_place_keeps_its_place_and_is_tried_by_the_new_retry(CancellationToken cancellationToken)
    {
        Outside.Fails();
        await StartAsync(Ordered);
        var waiting = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Time.Waiting > 0 && Attempts.Count == 1, "to wait", cancellationToken);
        var begun = Time.GetUtcNow();

        await ChangeAsync(
            Ordered with
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [Second] },
            }
        );
        await AdvanceUntilAsync(waiting, Second, cancellationToken);

        Assert.That(waiting.Result, Is.EqualTo(Settlement.Done));
        Assert.That(Outside.Attempts.Select(attempt => attempt.Attempt), Is.EqualTo(new[] { 1, 2 }), "its attempts are counted on");
        Assert.That(Time.GetUtcNow() - begun, Is.LessThan(TimeSpan.FromMinutes(10)));
    }

    [Test]
    public async Task Tuned_retry_applies_to_what_waits_without_another_subscription(CancellationToken cancellationToken)
    {
        Outside.Fails();
        await StartAsync(Ordered);
        var waiting = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Time.Waiting > 0 && Attempts.Count == 1, "to wait", cancellationToken);

        await Controller.TuneAsync(
            new EndpointTuning
            {
                Retry = new RetryTuning { Immediate = 0, Delays = ["1s"] },
            },
            cancellationToken
        );
        await AdvanceUntilAsync(waiting, Second, cancellationToken);

        Assert.That((waiting.Result, Outside.Attempts.Count), Is.EqualTo((Settlement.Done, 2)));
        Assert.That(Controller.Status.Current!.Retry!.Delays, Is.EqualTo(new[] { "1s" }));
        await Transport.ReceivedWithAnyArgs(1).SubscribeAsync(default!, default!, default);
        await Subscription.DidNotReceiveWithAnyArgs().DisposeAsync();
    }

    [Test]
    public async Task Endpoint_that_stands_at_a_message_tries_it_at_once_and_stands_there_all_the_time(CancellationToken cancellationToken)
    {
        var during = EndpointState.Starting;
        Outside
            .Fails(isTransient: false)
            .Takes(_ =>
            {
                during = Controller.Status.State;
                return Task.FromException(Failure);
            });
        await StartAsync(
            Ordered with
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            }
        );
        var message = Some.Message();
        var standing = DeliverAsync(message, cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.StandsAt is not null, "to stop", cancellationToken);
        var since = Controller.Status.StandsAt!.Since;
        Time.Advance(Second);

        await ChangeAsync(
            Ordered with
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            },
            Filter(accepts: true)
        );
        await Eventually.HoldsAsync(() => Controller.TryMoveOn(message.Id, discard: true, null), "to stop again", cancellationToken);
        var stands = Controller.Status.StandsAt;

        Assert.That(await standing, Is.EqualTo(Settlement.Done));
        Assert.That((during, stands?.Since ?? since), Is.EqualTo((EndpointState.Stopped, since)));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Failed, AuditKind.Failed, AuditKind.Discarded }));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
    }

    [TestCase(true, typeof(Settlement.Divert))]
    [TestCase(false, null)]
    public async Task Endpoint_stands_no_longer_at_a_message_that_the_new_settings_settle(
        bool gives,
        Type? settled,
        CancellationToken cancellationToken
    )
    {
        Outside.Fails(times: 2, isTransient: false);
        await StartAsync(Ordered);
        var standing = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.StandsAt is not null, "to stop", cancellationToken);

        await (gives ? ChangeAsync(Ordered with { OnFailure = FailureAction.DeadLetter }) : ChangeAsync(Ordered, Nothing));

        Assert.That((await standing).GetType(), Is.EqualTo(settled ?? Settlement.Done.GetType()));
        Assert.That((Controller.Status.State, Controller.Status.StandsAt), Is.EqualTo((EndpointState.Running, (EndpointStandstill?)null)));
    }

    [Test]
    public async Task Pause_of_the_circuit_breaker_outlasts_a_change_of_other_settings(CancellationToken cancellationToken)
    {
        Outside.Fails(isOutage: true);
        await StartAsync(Parallel);
        var waiting = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Controller.Status.State == EndpointState.Paused, "to pause", cancellationToken);

        await ChangeAsync(Parallel, Filter(accepts: true));
        var next = DeliverAsync(Some.Message(), cancellationToken);
        var (state, attempts) = (Controller.Status.State, Outside.Attempts.Count);
        await AdvanceUntilAsync(Task.WhenAll(waiting, next), Second, cancellationToken);

        Assert.That((state, attempts), Is.EqualTo((EndpointState.Paused, 1)));
        Assert.That((waiting.Result, next.Result), Is.EqualTo((Settlement.Done, Settlement.Done)));
        Assert.That(Audit.Kinds, Is.All.EqualTo(AuditKind.Delivered), "an outage is no attempt");
    }

    [Test]
    public async Task Message_whose_delivery_cannot_be_recorded_now_is_not_sent_again_for_other_settings(
        CancellationToken cancellationToken
    )
    {
        await StartAsync(Ordered);
        Audit.Failure = new EsbException("ESB-AUD-WRITE", "The audit is away.", FaultKind.Unavailable);
        var delivering = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 1 && Time.Waiting > 0, "to be sent", cancellationToken);

        await ChangeAsync(Ordered, Filter(accepts: true));
        await Task.Delay(50, cancellationToken);
        Audit.Failure = null;
        await AdvanceUntilAsync(delivering, Second, cancellationToken);

        Assert.That((delivering.Result, Outside.Attempts.Count), Is.EqualTo((Settlement.Done, 1)));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Delivered }));
    }

    [Test]
    public async Task Numbers_and_the_pause_are_tuned_at_the_subscription()
    {
        await StartAsync(Parallel);

        await ChangeAsync(Parallel with { PoolSize = 5, ProcessingThreads = 4, Prefetch = 40, Paused = true, Rate = 3 });

        await Subscription.Received(1).TuneAsync(4, 40, true, Arg.Any<CancellationToken>());
        var status = Controller.Status;
        Assert.That((status.Pool!.Maximum, status.State), Is.EqualTo((5, EndpointState.PausedByOperator)));
        Assert.That((status.Configured!.Rate, status.Current!.Rate), Is.EqualTo((3, 3)));
    }

    [Test]
    public void Subscription_of_other_patterns_or_retry_queues_and_other_instances_are_not_exchanged_in_place()
    {
        var (orders, returns) = (SubjectPattern.Parse("orders.#")!, SubjectPattern.Parse("returns.#")!);
        var (parallel, ordered) = (Parallel with { Subscribe = [orders] }, Ordered with { Subscribe = [orders] });

        Assert.That(CanBecome(parallel, parallel with { Retry = Parallel.Retry with { Immediate = 5 }, PoolSize = 9, Rate = 1 }), Is.True);
        Assert.That(CanBecome(ordered, ordered with { Retry = Parallel.Retry, OnFailure = FailureAction.Discard }), Is.True);
        Assert.That(CanBecome(parallel, parallel with { Retry = Ordered.Retry }), Is.False);
        Assert.That(CanBecome(parallel, parallel with { Subscribe = [orders, returns] }), Is.False);
        Assert.That(CanBecome(parallel, parallel, adapter: "another"), Is.False);
        Assert.That(
            CanBecome(parallel, parallel, tuned: new EndpointTuning { Retry = TuningValues.Of(Ordered.Retry) }),
            Is.False,
            "also where an operator tunes them"
        );
    }

    private static EndpointException Failure => new(Endpoint, "ESB-TEST-FAILED", "It failed.", isTransient: true);

    private static bool CanBecome(TestOutboundConfig before, TestOutboundConfig after, string adapter = "", EndpointTuning? tuned = null) =>
        new EndpointSettings(new OutboundModel(before, "test-outbound", null, null), new EndpointTuning()).CanBecome(
            new EndpointSettings(
                new OutboundModel(after, "test-outbound", null, null) { AdapterFingerprint = adapter },
                tuned ?? new EndpointTuning()
            )
        );

    private static IMessageCondition Filter(bool accepts)
    {
        var filter = Substitute.For<IMessageCondition>();
        filter.Holds(Arg.Any<MessageContext>()).Returns(accepts);
        return filter;
    }
}
