using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery;

public sealed class ParallelDeliveryTests : DeliveryFixture
{
    [Test, CancelAfter(30_000)]
    public async Task Message_that_is_sent_is_done_and_recorded_as_delivered(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(settlement, Is.EqualTo(Settlement.Done));
            Assert.That(Outside.Attempts.Single().Attempt, Is.EqualTo(1));
            Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Delivered }));
            Assert.That(Controller.Status.Messages, Is.EqualTo(1));
        });
    }

    [Test, CancelAfter(10_000)]
    public async Task Transient_failures_are_repeated_at_once_and_then_later(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Fails(times: 3);

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(
            settlement,
            Is.InstanceOf<Settlement.Later>().With.Property("Delay").EqualTo(TimeSpan.FromSeconds(10)).And.Property("Attempt").EqualTo(3)
        );
        Assert.That(Audit.Kinds, Is.EqualTo(Enumerable.Repeat(AuditKind.Failed, 3)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_without_an_attempt_left_becomes_a_dead_letter_with_its_history(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Fails();
        var message = Some.Message() with { Attempt = 5 };

        var settlement = await DeliverAsync(message, cancellationToken);

        var letter = ((Settlement.Divert)settlement).Letter;
        Assert.Multiple(() =>
        {
            Assert.That(letter.Attempts, Is.EqualTo(6));
            Assert.That(letter.Code, Is.EqualTo("ESB-TEST-FAILED"));
            Assert.That(letter.Endpoint, Is.EqualTo("an-endpoint"));
            Assert.That(letter.Message.Body, Is.SameAs(message.Body));
            Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Failed }), "it is a dead letter only once it is stored");
        });
    }

    [Test, CancelAfter(30_000)]
    public async Task Permanent_failure_is_not_repeated(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Fails(isTransient: false);

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(settlement, Is.InstanceOf<Settlement.Divert>());
        Assert.That(Outside.Attempts, Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task Discarding_endpoint_drops_the_message_and_records_it(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { OnFailure = FailureAction.Discard });
        Outside.Fails(isTransient: false);

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(settlement, Is.EqualTo(Settlement.Done));
        Assert.That(Audit.Kinds, Does.Contain(AuditKind.Discarded));
    }

    [Test, CancelAfter(30_000)]
    public async Task Attempt_that_takes_too_long_fails_with_aTime_out(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            }
        );
        Outside.Takes(token => Task.Delay(Timeout.Infinite, token));

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(10), cancellationToken);

        Assert.That(((Settlement.Divert)delivery.Result).Letter.Code, Is.EqualTo("ESB-ENDPOINT-TIMEOUT"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Endpoint_that_gives_up_by_itself_has_failed_an_attempt(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            }
        );
        Outside.Takes(_ => throw new TaskCanceledException("A time-out of its own."));

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        var letter = ((Settlement.Divert)settlement).Letter;
        Assert.That(
            (letter.Code, letter.ExceptionType),
            Is.EqualTo(("ESB-ENDPOINT-FAILED", "System.Threading.Tasks.TaskCanceledException"))
        );
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Failed }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Delivery_that_cannot_be_recorded_is_not_acknowledged_and_no_failed_attempt(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Audit.Failure = new EsbException("ESB-AUD-WRITE", "The audit cannot be written.", FaultKind.Unavailable);

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(5), cancellationToken);

        Assert.That(delivery.Result, Is.EqualTo(Settlement.Return));
        Assert.That(Outside.Attempts, Has.Count.EqualTo(1));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-AUD-1")]
    public async Task Message_is_not_begun_until_what_becomes_of_it_can_be_recorded(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        AuditGate.Tell("the spool is full to 95 %");

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        var (before, status) = (Outside.Attempts.Count, Controller.Status);
        AuditGate.Tell(null);

        Assert.That((before, status.State, status.Reason), Is.EqualTo((0, EndpointState.Paused, "the spool is full to 95 %")));
        Assert.That(await delivery, Is.EqualTo(Settlement.Done));
        Assert.That((Outside.Attempts.Count, Controller.Status.State), Is.EqualTo((1, EndpointState.Running)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Instances_are_made_only_under_load(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { PoolSize = 100, ProcessingThreads = 100 });

        for (var i = 0; i < 20; i++)
            await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(Outside.Instances, Is.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task Waiting_for_a_free_instance_is_no_attempt(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                ProcessingThreads = 2,
                PoolTimeout = TimeSpan.FromSeconds(1),
                Timeout = TimeSpan.FromMinutes(5),
            }
        );
        var sending = new TaskCompletionSource();
        Outside.Takes(_ => sending.Task);
        var first = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 1, "the instance is taken", cancellationToken);

        var second = DeliverAsync(Some.Message(), cancellationToken);
        for (var i = 0; i < 20; i++)
        {
            await Eventually.HoldsAsync(() => Time.Waiting > 2, "the second waits", cancellationToken);
            Time.Advance(TimeSpan.FromSeconds(1));
        }

        sending.SetResult();
        await AdvanceUntilAsync(second, TimeSpan.FromMilliseconds(100), cancellationToken);

        Assert.That((await first, await second), Is.EqualTo((Settlement.Done, Settlement.Done)));
        Assert.That(Outside.Attempts[1].Attempt, Is.EqualTo(1));
        Assert.That(Audit.Kinds, Has.None.EqualTo(AuditKind.Failed));
    }

    [Test, CancelAfter(30_000)]
    public async Task History_of_its_attempts_travels_with_the_message_and_ends_in_the_dead_letter(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 1, Delays = [TimeSpan.FromSeconds(10)] },
            }
        );
        Outside.Fails(times: 3);

        var later = (Settlement.Later)await DeliverAsync(Some.Message(), cancellationToken);
        Time.Advance(TimeSpan.FromSeconds(10));
        var again = Delivery(Some.Message() with { Attempt = later.Attempt }) with { Failures = later.Failures };
        var letter = ((Settlement.Divert)await DeliverAsync(again, cancellationToken)).Letter;

        Assert.That(later.Failures, Has.Count.EqualTo(2));
        Assert.That(letter.Failures.Select(failure => failure.Code), Is.EqualTo(Enumerable.Repeat("ESB-TEST-FAILED", 3)));
        Assert.That(letter.Failures[^1].At - letter.FirstAttempt, Is.EqualTo(TimeSpan.FromSeconds(10)));
        Assert.That(letter.Attempts, Is.EqualTo(3));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-POI-4")]
    public async Task Enormous_exception_leaves_a_dead_letter_of_bounded_size(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 3, Delays = [] },
            }
        );
        for (var i = 0; i < 4; i++)
            Outside.Takes(_ => throw new InvalidOperationException(new string('x', 1 << 20)));

        var letter = ((Settlement.Divert)await DeliverAsync(Some.Message(), cancellationToken)).Letter;

        Assert.That(letter.Reason, Has.Length.EqualTo(8 * 1024).And.Contains("xxx"));
        Assert.That(letter.ExceptionType, Is.EqualTo("System.InvalidOperationException"));
        Assert.That(letter.Failures.Take(3).Select(failure => failure.Reason.Length), Is.All.EqualTo(200));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-TMO-1")]
    public async Task Send_that_ignores_its_cancellation_is_left_behind_and_its_slot_replaced(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 0, Delays = [] },
            }
        );
        using var stuck = new ManualResetEventSlim();
        Outside.Takes(_ =>
        {
            stuck.Wait(CancellationToken.None);
            return Task.CompletedTask;
        });

        var first = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(first, TimeSpan.FromSeconds(5), cancellationToken);
        var during = Controller.Status;
        var second = await DeliverAsync(Some.Message(), cancellationToken);
        stuck.Set();
        await Eventually.HoldsAsync(() => Controller.Status.Stuck == 0, "the send has ended", cancellationToken);

        Assert.That(((Settlement.Divert)first.Result).Letter.Code, Is.EqualTo("ESB-ENDPOINT-TIMEOUT"));
        Assert.That(during.Stuck, Is.EqualTo(1));
        Assert.That(second, Is.EqualTo(Settlement.Done));
        Assert.That(Controller.Status.Pool, Has.Property("Created").EqualTo(1).And.Property("InUse").Zero);
    }

    [Test, CancelAfter(30_000), Property("Case", "T-DUP-3")]
    public async Task Message_that_was_applied_before_is_done_and_recorded_as_a_duplicate(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        var message = Some.Message();
        Outside.Answers(new DuplicateNotice(DuplicateNotice.Conflict, "Applied before.").AnswerTo(message, Time));

        var settlement = await DeliverAsync(message, cancellationToken);

        Assert.That(settlement, Is.EqualTo(Settlement.Done));
        Assert.That(
            Audit.Facts.Select(fact => (fact.Kind, fact.Code, fact.Reason)),
            Is.EqualTo(new[] { (AuditKind.Duplicate, "ESB-SQL-ONCECONFLICT", "Applied before.") })
        );
    }

    [Test, CancelAfter(30_000), Property("Case", "SQL-16")]
    public async Task Message_that_an_attempt_without_word_has_applied_is_recorded_as_delivered(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        var message = Some.Message();
        Outside.Fails(isOutage: true).Answers(new DuplicateNotice("ESB-SQL-DUPLICATE", "Applied before.").AnswerTo(message, Time));

        var delivering = DeliverAsync(message, cancellationToken);
        await AdvanceUntilAsync(delivering, TimeSpan.FromSeconds(1), cancellationToken);

        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Delivered }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Call_of_a_message_that_was_applied_before_has_no_answer_and_is_recorded(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        var message = Some.Message();
        Outside.Answers(new DuplicateNotice("ESB-SQL-DUPLICATE", "Applied before.").AnswerTo(message, Time));

        var answer = await Controller.CallAsync(message, unitOfWork: null, cancellationToken);

        Assert.That(answer, Is.Null);
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Duplicate }));
    }
}
