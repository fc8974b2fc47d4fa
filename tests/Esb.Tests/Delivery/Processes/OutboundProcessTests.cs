using System.Text;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using NSubstitute;

namespace Esb.Tests.Delivery.Processes;

/// <summary>The processes around an outbound endpoint: <c>process</c> before a message is sent, <c>reply</c> on its answer.</summary>
public sealed class OutboundProcessTests : DeliveryFixture
{
    private static readonly RetryConfig Once = new() { Immediate = 0, Delays = [] };

    [Test, CancelAfter(30_000)]
    public async Task What_the_process_makes_is_sent_under_the_identity_of_the_message(CancellationToken cancellationToken)
    {
        Process = new ScriptedProcess(
            (context, _) =>
            {
                context.Message = Some.Message("<bill/>", contentType: "application/xml") with
                {
                    Headers = MessageHeaders.Empty.With("x-made", "yes"),
                };
                return Task.CompletedTask;
            }
        );
        await StartAsync(new TestOutboundConfig());
        var message = Some.Message("<order/>", key: "A-1") with { Headers = MessageHeaders.Empty.With(EsbHeaders.Hops, "3") };

        var settlement = await DeliverAsync(message, cancellationToken);

        var sent = Outside.Attempts.Single();
        Assert.Multiple(() =>
        {
            Assert.That(settlement, Is.EqualTo(Settlement.Done));
            Assert.That((TextOf(sent), sent.ContentType, sent.Headers["x-made"]), Is.EqualTo(("<bill/>", "application/xml", "yes")));
            Assert.That(
                (sent.Id, sent.ConversationId, sent.Key, sent.Subject, sent.Attempt),
                Is.EqualTo((message.Id, message.ConversationId, "A-1", "orders.accepted", 1)),
                "once knows it by its own id"
            );
            Assert.That(MessageHops.Of(sent), Is.EqualTo(3));
            Assert.That(MessageHops.Of(Process.Runs.Single()), Is.EqualTo(4), "what it publishes has gone through one endpoint more");
            Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Delivered }));
        });
    }

    [Test, CancelAfter(30_000)]
    public async Task Filtered_message_is_settled_as_filtered_and_no_instance_is_made(
        [Values(DeliveryMode.Parallel, DeliveryMode.Ordered)] DeliveryMode delivery,
        CancellationToken cancellationToken
    )
    {
        Process = ScriptedProcess.Filtering();
        await StartAsync(new TestOutboundConfig { Delivery = delivery });

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That((settlement, Outside.Instances), Is.EqualTo((Settlement.Done, 0)));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Filtered }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Process_runs_before_an_instance_is_rented(CancellationToken cancellationToken)
    {
        Process = ScriptedProcess.Making(body => body);
        await StartAsync(new TestOutboundConfig { ProcessingThreads = 2 });
        var sending = new TaskCompletionSource();
        Outside.Takes(_ => sending.Task);
        var first = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 1, "the only instance is taken", cancellationToken);

        var second = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Process.Runs.Count == 2, "the process of the second has run", cancellationToken);
        var sent = Outside.Attempts.Count;
        sending.SetResult();

        Assert.That((await first, await second, sent), Is.EqualTo((Settlement.Done, Settlement.Done, 1)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Error_of_the_process_is_one_of_the_delivery_and_says_nothing_of_the_external_system(
        CancellationToken cancellationToken
    )
    {
        Process = Failing(new EsbException("SHOP-BAD", "Not this one.", FaultKind.Invalid));
        await StartAsync(new TestOutboundConfig());

        var letter = ((Settlement.Divert)await DeliverAsync(Some.Message(), cancellationToken)).Letter;

        Assert.That((letter.Code, letter.Reason, letter.Attempts), Is.EqualTo(("SHOP-BAD", "Not this one.", 1)));
        Assert.That((Outside.Attempts.Count, Controller.Status.State), Is.EqualTo((0, EndpointState.Running)));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Failed }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Error_of_the_process_that_may_pass_is_repeated_with_the_same_ids(CancellationToken cancellationToken)
    {
        var ids = new List<Guid>();
        Process = new ScriptedProcess(
            (context, _) =>
            {
                ids.Add(context.NextPublishId("p[0].publish"));
                return ids.Count == 1
                    ? throw new EndpointException("backend", "ESB-TEST-FAILED", "It failed.", isTransient: true)
                    : Task.CompletedTask;
            }
        );
        await StartAsync(new TestOutboundConfig());
        var message = Some.Message();

        var settlement = await DeliverAsync(message, cancellationToken);

        Assert.That((settlement, Outside.Attempts.Single().Attempt), Is.EqualTo((Settlement.Done, 2)));
        Assert.That(ids, Is.EqualTo(Enumerable.Repeat(MessageIds.Derive(message.Id, $"{Endpoint} p[0].publish"), 2)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Process_that_takes_longer_than_timeout_fails_the_attempt(CancellationToken cancellationToken)
    {
        Process = new ScriptedProcess((_, token) => Task.Delay(Timeout.Infinite, token));
        await StartAsync(new TestOutboundConfig { Retry = Once });

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await AdvanceUntilAsync(delivery, TimeSpan.FromSeconds(10), cancellationToken);

        var letter = ((Settlement.Divert)delivery.Result).Letter;
        Assert.That(
            (letter.Code, letter.Reason),
            Is.EqualTo(("ESB-ENDPOINT-TIMEOUT", "The process of the endpoint 'an-endpoint' took longer than 60 s."))
        );
        Assert.That(Outside.Attempts, Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public async Task Time_that_the_process_took_is_not_there_for_the_send(CancellationToken cancellationToken)
    {
        Process = new ScriptedProcess(
            (_, _) =>
            {
                Time.Advance(TimeSpan.FromSeconds(50));
                return Task.CompletedTask;
            }
        );
        await StartAsync(new TestOutboundConfig { Retry = Once });
        var sending = new TaskCompletionSource();
        Outside.Takes(async token =>
        {
            sending.SetResult();
            await Task.Delay(Timeout.Infinite, token);
        });

        var delivery = DeliverAsync(Some.Message(), cancellationToken);
        await sending.Task;
        await Eventually.HoldsAsync(() => Time.Waiting > 0, "the send is watched", cancellationToken);
        Time.Advance(TimeSpan.FromSeconds(10));

        Assert.That(((Settlement.Divert)await delivery).Letter.Code, Is.EqualTo("ESB-ENDPOINT-TIMEOUT"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_that_may_have_killed_the_process_runs_through_it_behind_a_mark(CancellationToken cancellationToken)
    {
        var message = Some.Message();
        var marked = false;
        Process = new ScriptedProcess(
            (_, _) =>
            {
                marked = Marks.Left.ContainsKey(message.Id);
                return Task.CompletedTask;
            }
        );
        await StartAsync(new TestOutboundConfig());

        await DeliverAsync(Delivery(message) with { Redeliveries = 1 }, cancellationToken);

        Assert.That((marked, Outside.Attempts.Count, Marks.Left.ContainsKey(message.Id)), Is.EqualTo((true, 1, false)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Answer_of_a_request_runs_through_reply(CancellationToken cancellationToken)
    {
        Process = ScriptedProcess.Making(body => $"{body}?");
        Reply = ScriptedProcess.Making(body => $"{body}!");
        await StartAsync(new TestOutboundConfig());
        var message = Some.Message("price");
        Outside.Answers(
            message.Reply(MessageBody.FromText("42"), Time) with
            {
                Headers = MessageHeaders.Empty.With(EsbHeaders.Status, "201"),
            }
        );

        var settlement = await RequestAsync(message, cancellationToken);

        var reply = Replies.Single();
        Assert.That((settlement, TextOf(Outside.Attempts.Single())), Is.EqualTo((Settlement.Done, "price?")));
        Assert.That(
            (TextOf(reply), reply.CorrelationId, reply.Headers[EsbHeaders.Status]),
            Is.EqualTo(("42!", message.Id.ToString(), "201"))
        );
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Replied }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Answer_to_a_message_that_nobody_waits_for_does_not_run_through_reply(CancellationToken cancellationToken)
    {
        Reply = ScriptedProcess.Making(body => body);
        await StartAsync(new TestOutboundConfig());
        Outside.Answers(Some.Message("42"));

        await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(Reply.Runs, Is.Empty);
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_whose_answer_reply_refuses_gets_the_fault_and_is_not_sent_again(CancellationToken cancellationToken)
    {
        Reply = Failing(new EndpointException("other", "ESB-TEST-FAILED", "It failed.", isTransient: true));
        await StartAsync(new TestOutboundConfig());
        Outside.Answers(Some.Message("42"));

        await RequestAsync(Some.Message(), cancellationToken);

        Assert.That(Outside.Attempts, Has.Count.EqualTo(1));
        Assert.That(TextOf(Replies.Single()), Does.Contain("ESB-TEST-FAILED"));
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_that_the_process_filters_is_answered_without_a_body(CancellationToken cancellationToken)
    {
        Process = ScriptedProcess.Filtering();
        Reply = ScriptedProcess.Making(body => body);
        await StartAsync(new TestOutboundConfig());

        await RequestAsync(Some.Message(), cancellationToken);

        Assert.That((Replies.Single().Headers[EsbHeaders.Status], TextOf(Replies.Single()), Reply.Runs.Count), Is.EqualTo(("204", "", 0)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Call_runs_through_both_and_what_the_process_publishes_joins_its_transaction(CancellationToken cancellationToken)
    {
        var joined = new List<IUnitOfWork?>();
        Process = new ScriptedProcess(
            (context, _) =>
            {
                joined.Add(context.UnitOfWork);
                return Task.CompletedTask;
            }
        );
        Reply = ScriptedProcess.Making(body => $"{body}!");
        await StartAsync(new TestOutboundConfig());
        Outside.Answers(Some.Message("42"));
        var unitOfWork = Substitute.For<IUnitOfWork>();

        var answer = await Controller.CallAsync(Some.Message(), unitOfWork, cancellationToken);

        Assert.That(TextOf(answer!), Is.EqualTo("42!"));
        Assert.That(joined, Is.EqualTo(new[] { unitOfWork }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Call_that_the_process_filters_has_no_answer_and_is_recorded(CancellationToken cancellationToken)
    {
        Process = ScriptedProcess.Filtering();
        await StartAsync(new TestOutboundConfig());

        var answer = await Controller.CallAsync(Some.Message(), unitOfWork: null, cancellationToken);

        Assert.That((answer, Outside.Attempts.Count), Is.EqualTo(((EsbMessage?)null, 0)));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Filtered }));
    }

    private static ScriptedProcess Failing(EsbException failure) => new((_, _) => throw failure);

    private static string TextOf(EsbMessage message) => Encoding.UTF8.GetString(message.Body.Bytes.Span);
}
