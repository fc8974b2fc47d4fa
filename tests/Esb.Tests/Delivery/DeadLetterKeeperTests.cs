using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Failures;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;
using NSubstitute.ExceptionExtensions;

namespace Esb.Tests.Delivery;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class DeadLetterKeeperTests
{
    private readonly IDeadLetterStore _store = Substitute.For<IDeadLetterStore>();
    private readonly AuditLog _audit = new();
    private readonly DeadLetter _letter = new(Some.Message(), "an-endpoint", "ESB-TEST-FAILED", "It failed.", null, 3, default, default);

    [Test]
    public async Task Letter_is_recorded_once_it_is_stored()
    {
        await Keeper().KeepAsync(_letter, CancellationToken.None);

        await _store.Received().AddAsync(_letter, Arg.Any<CancellationToken>());
        var fact = _audit.Facts.Single();
        Assert.That(
            (fact.Kind, fact.Endpoint, fact.Code, fact.Attempt),
            Is.EqualTo((AuditKind.DeadLettered, "an-endpoint", "ESB-TEST-FAILED", 3))
        );
    }

    [Test]
    public void Letter_that_cannot_be_stored_is_not_recorded_and_stays_with_the_transport()
    {
        _store
            .AddAsync(default!, default)
            .ThrowsAsyncForAnyArgs(new EsbException("ESB-STORE-AWAY", "The store cannot be reached.", FaultKind.Unavailable));

        Assert.That(async () => await Keeper().KeepAsync(_letter, CancellationToken.None), Throws.TypeOf<EsbException>());
        Assert.That(_audit.Facts, Is.Empty);
    }

    private DeadLetterKeeper Keeper() =>
        new(Substitute.For<ITopicTransport>(), _store, _audit, TimeProvider.System, NullLogger<DeadLetterKeeper>.Instance);
}
