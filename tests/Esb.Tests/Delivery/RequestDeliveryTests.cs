using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery;

public sealed class RequestDeliveryTests : DeliveryFixture
{
    [Test, CancelAfter(30_000)]
    public async Task Request_is_answered_with_what_theOutside_answers(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Answers(Some.Message("the answer"));

        await RequestAsync(Some.Message(), cancellationToken);

        Assert.That(Replies.Single().Body.ReadText(), Is.EqualTo("the answer"));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Replied }));
    }

    [Test, Property("Case", "HTP-31"), CancelAfter(30_000)]
    public async Task Answer_that_nobody_waits_for_any_more_is_recorded_as_abandoned(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Answers(Some.Message("the answer"));
        IsRequesterGone = true;

        var settlement = await RequestAsync(Some.Message(), cancellationToken);

        Assert.That((settlement, Audit.Kinds.Single()), Is.EqualTo((Settlement.Done, AuditKind.ReplyAbandoned)));
        IsRequesterGone = false;
    }

    [Test, CancelAfter(30_000)]
    public async Task Failed_request_gets_a_fault_after_immediate_attempts_only(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Fails(times: 3);

        var settlement = await RequestAsync(Some.Message(), cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(settlement, Is.EqualTo(Settlement.Done));
            Assert.That(Outside.Attempts, Has.Count.EqualTo(3));
            Assert.That(Replies.Single().Headers[EsbHeaders.Fault], Is.EqualTo("ESB-TEST-FAILED"));
            Assert.That(Replies.Single().ContentType, Is.EqualTo("application/problem+json"));
        });
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_to_an_endpoint_that_does_not_answer_is_a_message_like_others(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { Answering = false });
        Outside.Fails(times: 3);

        var settlement = await RequestAsync(Some.Message(), cancellationToken, expiresAt: Time.GetUtcNow());

        Assert.That(settlement, Is.InstanceOf<Settlement.Later>());
        Assert.That(Replies, Is.Empty);
    }

    [Test]
    public async Task Transport_is_told_whether_an_endpoint_answers([Values] bool answers)
    {
        await StartAsync(new TestOutboundConfig { Answering = answers });

        Assert.That(Wanted!.Answers, Is.EqualTo(answers));
    }

    [Test, CancelAfter(10_000)]
    public async Task Request_that_meets_an_outage_closes_the_gate_and_gets_a_fault_at_once(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Fails(isOutage: true);

        await RequestAsync(Some.Message(), cancellationToken);
        await RequestAsync(Some.Message(), cancellationToken);

        Assert.That(Outside.Attempts, Has.Count.EqualTo(1), "the second found the gate closed");
        Assert.That(
            Replies.Select(reply => reply.Headers[EsbHeaders.Fault]),
            Is.EqualTo(new[] { "ESB-TEST-FAILED", "ESB-ENDPOINT-PAUSED" })
        );
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Paused));
    }

    [Test, CancelAfter(30_000)]
    public async Task Where_only_requests_come_one_of_them_probes_when_it_is_time(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        Outside.Fails(isOutage: true);
        await RequestAsync(Some.Message(), cancellationToken);

        Time.Advance(TimeSpan.FromSeconds(1));
        await RequestAsync(Some.Message(), cancellationToken);

        Assert.That(Outside.Attempts, Has.Count.EqualTo(2));
        Assert.That(Controller.Status.State, Is.EqualTo(EndpointState.Running));
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_that_nobody_waits_for_any_more_is_not_executed(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());

        var settlement = await RequestAsync(Some.Message(), cancellationToken, expiresAt: Time.GetUtcNow());

        Assert.That(settlement, Is.EqualTo(Settlement.Done));
        Assert.That(Outside.Attempts, Is.Empty);
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Expired }));
    }

    [Test, CancelAfter(30_000)]
    public async Task Request_that_expires_while_it_waits_for_an_instance_is_not_executed(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig { ProcessingThreads = 2 });
        var sending = new TaskCompletionSource();
        Outside.Takes(_ => sending.Task);
        var first = DeliverAsync(Some.Message(), cancellationToken);
        await Eventually.HoldsAsync(() => Outside.Attempts.Count == 1, "the instance is taken", cancellationToken);

        var request = RequestAsync(Some.Message(), cancellationToken, expiresAt: Time.GetUtcNow().AddSeconds(5));
        await Eventually.HoldsAsync(() => Controller.Status.Pool!.Waiting == 1, "the request waits", cancellationToken);
        Time.Advance(TimeSpan.FromSeconds(5));
        sending.SetResult();
        await Task.WhenAll(first, request);

        Assert.That(Outside.Attempts, Has.Count.EqualTo(1));
        Assert.That(Audit.Kinds, Is.EquivalentTo(new[] { AuditKind.Delivered, AuditKind.Expired }));
    }
}
