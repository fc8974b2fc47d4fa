using Esb.Audit;
using Esb.Audit.Spooling;
using Esb.Core.Audit;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Tests.Audit;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;

namespace Esb.Tests.Delivery;

/// <summary>A strict audit whose store refuses facts for good: what was done is not done again for their sake.</summary>
public sealed class RefusedFactTests : DeliveryFixture
{
    private readonly IAuditSpool _spool = Substitute.For<IAuditSpool>();
    private readonly List<AuditKind> _aside = [];

    public RefusedFactTests()
    {
        var refusal = new EsbException("ESB-AUD-WRITE", "The audit store refuses the fact.", FaultKind.Internal);
        _spool.QuarantineAsync(Arg.Do<AuditFact>(fact => _aside.Add(fact.Kind)), Arg.Any<CancellationToken>()).Returns(Task.CompletedTask);
        Trail = new AuditTrail(
            new AuditConfig { Mode = AuditMode.Strict },
            new MemoryAuditStore(_spool) { Failure = _ => refusal },
            new RefusedFacts(NullLogger<RefusedFacts>.Instance)
        );
    }

    [TearDown]
    public Task StopController() => Controller.StopAsync(CancellationToken.None);

    [TestCase(DeliveryMode.Parallel)]
    [TestCase(DeliveryMode.Ordered)]
    [TestCase(DeliveryMode.OrderedByKey)]
    [CancelAfter(30_000), Property("Case", "AUD-05")]
    public async Task Message_that_was_sent_is_done_and_not_sent_again(DeliveryMode delivery, CancellationToken cancellationToken)
    {
        Parking.TakeLaneAsync(default!, default, default).ReturnsForAnyArgs(new LaneOwner("an-endpoint", 0, 1, new HashSet<string>()));
        await StartAsync(new TestOutboundConfig { Delivery = delivery });

        var settlement = await DeliverAsync(Some.Message() with { Key = "a" }, cancellationToken);

        Assert.That(settlement, Is.EqualTo(Settlement.Done));
        Assert.That(Outside.Attempts, Has.Count.EqualTo(1));
        Assert.That(_aside, Is.EqualTo([AuditKind.Delivered]));
        Assert.That((Controller.Status.State, Controller.Status.Messages), Is.EqualTo((EndpointState.Running, 1L)));
    }

    [Test, CancelAfter(30_000), Property("Case", "AUD-05")]
    public async Task Request_that_was_answered_is_not_worked_on_again(CancellationToken cancellationToken)
    {
        await StartAsync(new TestOutboundConfig());
        var request = Some.Message();
        Outside.Answers(request.Reply(request.Body, Time));

        var settlement = await RequestAsync(request, cancellationToken);

        Assert.That(settlement, Is.EqualTo(Settlement.Done));
        Assert.That((Outside.Attempts.Count, Replies.Count), Is.EqualTo((1, 1)));
        Assert.That(_aside, Is.EqualTo([AuditKind.Replied]));
    }

    [Test, CancelAfter(30_000), Property("Case", "AUD-05")]
    public async Task Failed_attempts_count_and_end_in_a_dead_letter(CancellationToken cancellationToken)
    {
        await StartAsync(
            new TestOutboundConfig
            {
                Retry = new RetryConfig { Immediate = 1, Delays = [] },
            }
        );
        Outside.Fails(times: 2);

        var settlement = await DeliverAsync(Some.Message(), cancellationToken);

        Assert.That(((Settlement.Divert)settlement).Letter.Attempts, Is.EqualTo(2));
        Assert.That(_aside, Is.EqualTo([AuditKind.Failed, AuditKind.Failed]));
    }
}
