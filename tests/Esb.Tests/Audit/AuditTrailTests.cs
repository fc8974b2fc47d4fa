using Esb.Audit;
using Esb.Core.Audit;
using Esb.Tests.Storage;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Audit;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class AuditTrailTests
{
    private readonly IAuditSpool _spool = Substitute.For<IAuditSpool>();
    private readonly AuditFact _fact = SomeFacts.Fact();

    [Test]
    public async Task Spooled_facts_go_to_the_spool_only()
    {
        var store = new MemoryAuditStore(_spool);

        await new AuditTrail(new AuditConfig(), store).RecordAsync(_fact, default);

        await _spool.Received(1).AppendAsync(_fact, Arg.Any<CancellationToken>());
        Assert.That(store.Facts, Is.Empty);
    }

    [Test]
    public async Task Strict_facts_go_to_the_store_only()
    {
        var store = new MemoryAuditStore(_spool);

        await new AuditTrail(new AuditConfig { Mode = AuditMode.Strict }, store).RecordAsync(_fact, default);

        await _spool.DidNotReceive().AppendAsync(Arg.Any<AuditFact>(), Arg.Any<CancellationToken>());
        Assert.That(store.Facts.Single(), Is.SameAs(_fact));
    }

    [Test]
    public async Task Without_a_spool_facts_go_to_the_store()
    {
        var store = new MemoryAuditStore();

        await new AuditTrail(new AuditConfig(), store).RecordAsync(_fact, default);

        Assert.That(store.Facts.Single(), Is.SameAs(_fact));
    }
}
