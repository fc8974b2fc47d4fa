using Esb.Audit;
using Esb.Audit.Services;
using Esb.Tests.Storage;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.Tests.Audit.Services;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class AuditServicesTests
{
    private static readonly TimeSpan Waiting = TimeSpan.FromSeconds(60);

    private readonly MemoryAuditTrail _trail = new();

    [Test, CancelAfter(30_000)]
    public async Task Each_call_has_a_service_of_its_own(CancellationToken cancellationToken)
    {
        var services = Create(maxConcurrentInstances: 1);

        var first = await services.OpenAsync(Waiting, cancellationToken);
        first.Dispose();
        var second = await services.OpenAsync(Waiting, cancellationToken);

        Assert.That(second, Is.Not.SameAs(first));
    }

    [Test, CancelAfter(10_000)]
    public async Task No_more_services_work_at_once_than_the_maximum(CancellationToken cancellationToken)
    {
        var gate = new TaskCompletionSource();
        _trail.Gate = gate.Task;
        var services = Create(maxConcurrentInstances: 3);

        var calls = Enumerable
            .Range(0, 10)
            .Select(_ => new AuditProxy(services).RecordAsync(SomeFacts.Fact(), Waiting, cancellationToken).AsTask())
            .ToList();
        var working = _trail.Working;
        gate.SetResult();
        await Task.WhenAll(calls);

        Assert.That(working, Is.EqualTo(3));
        Assert.That(_trail.Facts, Has.Count.EqualTo(10));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_call_that_fails_gives_its_place_back(CancellationToken cancellationToken)
    {
        var services = Create(maxConcurrentInstances: 1);
        _trail.Gate = Task.FromException(new IOException("full"));

        Assert.That(
            () => new AuditProxy(services).RecordAsync(SomeFacts.Fact(), Waiting, cancellationToken).AsTask(),
            Throws.InstanceOf<IOException>()
        );
        _trail.Gate = Task.CompletedTask;
        await new AuditProxy(services).RecordAsync(SomeFacts.Fact(), Waiting, cancellationToken);

        Assert.That(_trail.Facts, Has.Count.EqualTo(1));
    }

    private AuditServices Create(int maxConcurrentInstances) =>
        new(
            new AuditConfig { MaxConcurrentInstances = maxConcurrentInstances },
            _trail,
            TimeProvider.System,
            NullLogger<AuditServices>.Instance
        );
}
