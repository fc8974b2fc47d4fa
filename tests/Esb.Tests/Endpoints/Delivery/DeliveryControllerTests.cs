using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Endpoints.Delivery;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Endpoints.Delivery;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class DeliveryControllerTests
{
    private readonly ManualTime _time = new();
    private readonly AuditLog _audit = new();
    private readonly ScriptedEndpoint _outside = new();
    private readonly List<EsbMessage> _replies = [];
    private DeliveryHandler _deliver = null!;
    private DeliveryController? _controller;
    private bool _isRequesterGone;

    [TearDown]
    public async Task DisposeController()
    {
        if (_controller is not null) await _controller.DisposeAsync();
    }

    [Test, CancelAfter(10_000)]
    public async Task Message_that_is_sent_is_done_and_recorded_as_delivered(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(settlement, Is.EqualTo(Settlement.Done));
            Assert.That(_outside.Attempts.Single().Attempt, Is.EqualTo(1));
            Assert.That(_audit.Kinds, Is.EqualTo(new[] { AuditKind.Delivered }));
            Assert.That(_controller!.Status.Messages, Is.EqualTo(1));
        });
    }

    [Test, CancelAfter(10_000)]
    public async Task Transient_failures_are_repeated_at_once_and_then_later(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        _outside.Fails(times: 3);

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(settlement, Is.EqualTo(new Settlement.Later(TimeSpan.FromSeconds(10), Attempt: 3)));
        Assert.That(_audit.Kinds, Is.EqualTo(Enumerable.Repeat(AuditKind.Failed, 3)));
    }

    [Test, CancelAfter(10_000)]
    public async Task Message_without_an_attempt_left_becomes_a_dead_letter_with_its_history(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        _outside.Fails();
        var message = Some.Message() with { Attempt = 5 };

        var settlement = await DeliverAsync(message, cancellationToken);

        var letter = ((Settlement.Divert)settlement).Letter;
        Assert.Multiple(() =>
        {
            Assert.That(letter.Attempts, Is.EqualTo(6));
            Assert.That(letter.Code, Is.EqualTo("ESB-TEST-FAILED"));
            Assert.That(letter.Endpoint, Is.EqualTo("an-endpoint"));
            Assert.That(letter.Message.Body, Is.SameAs(message.Body));
            Assert.That(_audit.Kinds, Is.EqualTo(new[] { AuditKind.Failed, AuditKind.DeadLettered }));
        });
    }

    [Test, CancelAfter(10_000)]
    public async Task Permanent_failure_is_not_repeated(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        _outside.Fails(isTransient: false);

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(settlement, Is.InstanceOf<Settlement.Divert>());
        Assert.That(_outside.Attempts, Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(10_000)]
    public async Task Discarding_endpoint_drops_the_message_and_records_it(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { OnFailure = FailureAction.Discard });
        _outside.Fails(isTransient: false);

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(settlement, Is.EqualTo(Settlement.Done));
        Assert.That(_audit.Kinds, Does.Contain(AuditKind.Discarded));
    }

    [Test, CancelAfter(10_000)]
    public async Task Outage_pauses_the_endpoint_and_probes_until_the_outside_is_back(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        _outside.Fails(times: 2, isOutage: true);

        var delivery = DeliverAsync(Some.Message(), cancellationToken).AsTask();
        await Eventually.HoldsAsync(() => _controller!.Status.State == EndpointState.Paused, "the endpoint pauses", cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(delivery.Result, Is.EqualTo(Settlement.Done));
            Assert.That(_outside.Attempts.Select(attempt => attempt.Attempt), Is.All.EqualTo(1), "an outage is no attempt");
            Assert.That(_controller!.Status.State, Is.EqualTo(EndpointState.Running));
            Assert.That(_audit.Kinds, Is.EqualTo(new[] { AuditKind.Delivered }));
        });
    }

    [Test, CancelAfter(10_000)]
    public async Task While_paused_only_one_delivery_at_a_time_probes(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { PoolSize = 10, ProcessingThreads = 10 });
        _outside.Fails(isOutage: true);
        var first = DeliverAsync(Some.Message(), cancellationToken).AsTask();
        await Eventually.HoldsAsync(() => _controller!.Status.State == EndpointState.Paused, "the endpoint pauses", cancellationToken);

        var others = Enumerable.Range(0, 9).Select(_ => DeliverAsync(Some.Message(), cancellationToken).AsTask()).ToList();
        var before = _outside.Attempts.Count;
        await AdvanceUntilAsync(Task.WhenAll(others.Append(first)), TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(before, Is.EqualTo(1), "nobody but the probe tries while the outside is away");
        Assert.That(_outside.Attempts, Has.Count.EqualTo(11));
    }

    [Test, CancelAfter(10_000)]
    public async Task Ordered_endpoint_stands_at_the_message_that_fails_and_says_so(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        _outside.Fails(isTransient: false);

        var delivery = DeliverAsync(Some.Message(), cancellationToken).AsTask();
        await Eventually.HoldsAsync(() => _controller!.Status.State == EndpointState.Stopped, "the endpoint stops", cancellationToken);

        Assert.That(_controller!.Status.Reason, Does.Contain("ESB-TEST-FAILED"));
        Assert.That(delivery.IsCompleted, Is.False, "the message is neither acknowledged nor passed over");
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(60), cancellationToken);
        Assert.That(delivery.Result, Is.EqualTo(Settlement.Done));
        Assert.That(_controller.Status.State, Is.EqualTo(EndpointState.Running));
    }

    [Test, CancelAfter(10_000)]
    public async Task Ordered_endpoint_waits_in_place_between_attempts(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        _outside.Fails(times: 3);

        var delivery = DeliverAsync(Some.Message(), cancellationToken).AsTask();
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(delivery.Result, Is.EqualTo(Settlement.Done));
        Assert.That(_outside.Attempts.Select(attempt => attempt.Attempt), Is.EqualTo(new[] { 1, 2, 3, 4 }));
    }

    [Test, CancelAfter(10_000)]
    public async Task Attempt_that_takes_too_long_fails_with_a_time_out(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Retry = new RetryConfig { Immediate = 0, Delays = [] } });
        _outside.Takes(token => Task.Delay(Timeout.Infinite, token));

        var delivery = DeliverAsync(Some.Message(), cancellationToken).AsTask();
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That(((Settlement.Divert)delivery.Result).Letter.Code, Is.EqualTo("ESB-ENDPOINT-TIMEOUT"));
    }

    [Test, CancelAfter(10_000)]
    public async Task Stopping_gives_a_waiting_message_back(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Delivery = DeliveryMode.Ordered });
        _outside.Fails(isTransient: false);
        var delivery = DeliverAsync(Some.Message(), cancellationToken).AsTask();
        await Eventually.HoldsAsync(() => _controller!.Status.State == EndpointState.Stopped, "the endpoint stops", cancellationToken);

        await _controller!.StopAsync(cancellationToken);

        Assert.That(await delivery, Is.EqualTo(Settlement.Return));
    }

    [Test, CancelAfter(10_000)]
    public async Task Delivery_that_cannot_be_recorded_is_not_acknowledged_and_no_failed_attempt(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        _audit.Failure = new EsbException("ESB-AUD-WRITE", "The audit cannot be written.", FaultKind.Unavailable);

        var delivery = DeliverAsync(Some.Message(), cancellationToken).AsTask();
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(delivery.Result, Is.EqualTo(Settlement.Return));
        Assert.That(_outside.Attempts, Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(10_000)]
    public async Task Request_is_answered_with_what_the_outside_answers(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        _outside.Answers(Some.Message("the answer"));

        await DeliverAsync(Some.Message(), cancellationToken, isRequest: true);

        Assert.That(_replies.Single().Body.ReadText(), Is.EqualTo("the answer"));
        Assert.That(_audit.Kinds, Is.EqualTo(new[] { AuditKind.Replied }));
    }

    [Test, CancelAfter(10_000)]
    public async Task Answer_that_nobody_waits_for_any_more_is_recorded_as_abandoned(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        _outside.Answers(Some.Message("the answer"));
        _isRequesterGone = true;

        var settlement = await DeliverAsync(Some.Message(), cancellationToken, isRequest: true);

        Assert.That((settlement, _audit.Kinds.Single()), Is.EqualTo((Settlement.Done, AuditKind.ReplyAbandoned)));
    }

    [Test, CancelAfter(10_000)]
    public async Task Failed_request_gets_a_fault_after_immediate_attempts_only(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        _outside.Fails(times: 3, isOutage: true);

        var settlement = await DeliverAsync(Some.Message(), cancellationToken, isRequest: true);

        Assert.Multiple(() =>
        {
            Assert.That(settlement, Is.EqualTo(Settlement.Done));
            Assert.That(_outside.Attempts, Has.Count.EqualTo(3));
            Assert.That(_replies.Single().Headers[EsbHeaders.Fault], Is.EqualTo("ESB-TEST-FAILED"));
            Assert.That(_replies.Single().ContentType, Is.EqualTo("application/problem+json"));
        });
    }

    [Test, CancelAfter(10_000), Property("Case", "T-DUP-3")]
    public async Task Message_that_was_applied_before_is_done_and_recorded_as_a_duplicate(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        var message = Some.Message();
        _outside.Answers(new DuplicateNotice(DuplicateNotice.Conflict, "Applied before.").AnswerTo(message, _time));

        var settlement = await DeliverAsync(message, cancellationToken);

        Assert.That(settlement, Is.EqualTo(Settlement.Done));
        Assert.That(_audit.Facts.Select(fact => (fact.Kind, fact.Code, fact.Reason)), Is.EqualTo(new[] { (AuditKind.Duplicate, "ESB-SQL-ONCECONFLICT", "Applied before.") }));
    }

    [Test, CancelAfter(10_000), Property("Case", "SQL-16")]
    public async Task Message_that_an_attempt_without_word_has_applied_is_recorded_as_delivered(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        var message = Some.Message();
        _outside.Fails(isOutage: true).Answers(new DuplicateNotice("ESB-SQL-DUPLICATE", "Applied before.").AnswerTo(message, _time));

        var delivering = DeliverAsync(message, cancellationToken).AsTask();
        await AdvanceUntilAsync(delivering, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(_audit.Kinds, Is.EqualTo(new[] { AuditKind.Delivered }));
    }

    [Test, CancelAfter(10_000)]
    public async Task Call_of_a_message_that_was_applied_before_has_no_answer_and_is_recorded(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        var message = Some.Message();
        _outside.Answers(new DuplicateNotice("ESB-SQL-DUPLICATE", "Applied before.").AnswerTo(message, _time));

        var answer = await _controller!.CallAsync(message, unitOfWork: null, cancellationToken);

        Assert.That(answer, Is.Null);
        Assert.That(_audit.Kinds, Is.EqualTo(new[] { AuditKind.Duplicate }));
    }

    [Test, CancelAfter(10_000)]
    public async Task Instances_are_made_only_under_load(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { PoolSize = 100, ProcessingThreads = 100 });

        for (var i = 0; i < 20; i++) await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(_outside.Instances, Is.EqualTo(1));
    }

    private async Task StartAsync(TestOutboundConfig config)
    {
        config = config with { Name = "an-endpoint", Subscribe = [SubjectPattern.Parse("orders.#")!] };
        var transport = Substitute.For<ITopicTransport>();
        var subscription = Substitute.For<ITopicSubscription>();
        subscription.IsLive.Returns(true);
        transport.SubscribeAsync(Arg.Any<Subscription>(), Arg.Do<DeliveryHandler>(handler => _deliver = handler), Arg.Any<CancellationToken>()).Returns(subscription);
        var sender = new EndpointSender(config, _outside, _time, NullLoggerFactory.Instance);
        _controller = new DeliveryController(config, "test-outbound", sender, filter: null, transport, _audit, _time, NullLogger<DeliveryController>.Instance);
        await _controller.StartAsync(CancellationToken.None);
    }

    private ValueTask<Settlement> DeliverAsync(EsbMessage message, CancellationToken cancellationToken, bool isRequest = false)
    {
        ReplySender? reply = isRequest ? Keep : null;
        return _deliver(new TopicDelivery(message with { Subject = "orders.accepted" }, default, reply), cancellationToken);

        ValueTask<bool> Keep(EsbMessage answer, CancellationToken token)
        {
            _replies.Add(answer);
            return ValueTask.FromResult(!_isRequesterGone);
        }
    }

    private async Task AdvanceUntilAsync(Task task, TimeSpan step, CancellationToken cancellationToken)
    {
        while (!task.IsCompleted)
        {
            if (_time.Waiting > 0) _time.Advance(step);
            await Task.Delay(1, cancellationToken);
        }
    }

    private sealed record TestOutboundConfig : OutboundEndpointConfig;
}
