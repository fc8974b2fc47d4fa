using System.Diagnostics.Metrics;
using Esb.Audit;
using Esb.Audit.Spooling;
using Esb.Core.Audit;
using Esb.Core.Diagnostics;
using Esb.Core.Errors;
using Esb.Tests.Fakes;
using Esb.Tests.Storage;
using Microsoft.Extensions.Logging;
using NSubstitute;
using NSubstitute.ExceptionExtensions;
using NUnit.Framework;

namespace Esb.Tests.Audit;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase), NonParallelizable] // the metric is the assembly's
public sealed class AuditTrailTests : IDisposable
{
    private static readonly EsbException Refusal = new("ESB-AUD-WRITE", "The audit store refuses the fact.", FaultKind.Internal);

    private readonly IAuditSpool _spool = Substitute.For<IAuditSpool>();
    private readonly AuditFact _fact = SomeFacts.Fact();
    private readonly LogLines _log = new();
    private readonly ILoggerFactory _loggers;

    public AuditTrailTests() => _loggers = LoggerFactory.Create(logging => logging.AddProvider(_log));

    public void Dispose()
    {
        _loggers.Dispose();
        _log.Dispose();
    }

    [Test]
    public async Task Spooled_facts_go_to_the_spool_only()
    {
        var store = new MemoryAuditStore(_spool);

        await Trail(store, AuditMode.Spooled).RecordAsync(_fact, default);

        await _spool.Received(1).AppendAsync(_fact, Arg.Any<CancellationToken>());
        Assert.That(store.Facts, Is.Empty);
    }

    [Test]
    public async Task Strict_facts_go_to_the_store_only()
    {
        var store = new MemoryAuditStore(_spool);

        await Trail(store).RecordAsync(_fact, default);

        await _spool.DidNotReceive().AppendAsync(Arg.Any<AuditFact>(), Arg.Any<CancellationToken>());
        Assert.That(store.Facts.Single(), Is.SameAs(_fact));
    }

    [Test]
    public async Task Without_a_spool_facts_go_to_the_store()
    {
        var store = new MemoryAuditStore();

        await Trail(store, AuditMode.Spooled).RecordAsync(_fact, default);

        Assert.That(store.Facts.Single(), Is.SameAs(_fact));
    }

    [TestCase(AuditKind.Delivered)]
    [TestCase(AuditKind.Published)]
    [TestCase(AuditKind.Failed)]
    [TestCase(AuditKind.DeadLettered)]
    [Property("Case", "AUD-05")]
    public async Task Strict_fact_of_what_is_done_is_put_aside_counted_and_told_where_the_store_refuses_it(AuditKind kind)
    {
        long counted = 0;
        using var listener = new MeterListener { InstrumentPublished = Listen };
        listener.SetMeasurementEventCallback<long>((_, count, _, _) => Interlocked.Add(ref counted, count));
        listener.Start();
        var fact = SomeFacts.Fact(kind);

        await Trail(new MemoryAuditStore(_spool) { Failure = _ => Refusal }).RecordAsync(fact, default);

        await _spool.Received(1).QuarantineAsync(fact, Arg.Any<CancellationToken>());
        Assert.That(counted, Is.EqualTo(1));
        Assert.That(
            _log.All.Single(line => line.Level == LogLevel.Error).Text,
            Does.StartWith("ESB-AUD-WRITE").And.Contain($"{fact.Id}").And.Contain($"{kind}").And.Contain($"{fact.MessageId}")
        );

        static void Listen(Instrument instrument, MeterListener listener)
        {
            if (instrument is { Meter.Name: "Esb.Audit", Name: EsbTelemetry.Metrics.AuditRefused, Unit: "{fact}" })
                listener.EnableMeasurementEvents(instrument);
        }
    }

    [TestCase(AuditKind.Received)]
    [TestCase(AuditKind.Recorded)]
    [Property("Case", "AUD-05")]
    public void Strict_fact_of_what_is_not_done_yet_is_refused_to_the_caller(AuditKind kind)
    {
        var trail = Trail(new MemoryAuditStore(_spool) { Failure = _ => Refusal });

        Assert.That(async () => await trail.RecordAsync(SomeFacts.Fact(kind), default), Throws.Exception.SameAs(Refusal));
        _spool.DidNotReceiveWithAnyArgs().QuarantineAsync(default!, default);
    }

    [Test, Property("Case", "AUD-05")]
    public void Strict_fact_is_not_put_aside_while_the_store_is_only_away()
    {
        var away = new EsbException("ESB-AUD-WRITE", "The audit fact could not be written.", FaultKind.Unavailable);
        var trail = Trail(new MemoryAuditStore(_spool) { Failure = _ => away });

        Assert.That(async () => await trail.RecordAsync(SomeFacts.Fact(AuditKind.Delivered), default), Throws.Exception.SameAs(away));
        _spool.DidNotReceiveWithAnyArgs().QuarantineAsync(default!, default);
    }

    [Test, Property("Case", "AUD-05")]
    public void Caller_hears_of_a_refused_fact_that_cannot_be_put_aside()
    {
        var full = new EsbException("ESB-AUD-WRITE", "The audit fact could not be written.", FaultKind.Unavailable);
        _spool.QuarantineAsync(default!, default).ThrowsAsyncForAnyArgs(full);
        var trail = Trail(new MemoryAuditStore(_spool) { Failure = _ => Refusal });

        Assert.That(async () => await trail.RecordAsync(SomeFacts.Fact(AuditKind.Delivered), default), Throws.Exception.SameAs(full));
        Assert.That(_log.All, Is.Empty);
    }

    [TestCase(AuditFlush.Accepted, AuditDurability.Written)]
    [TestCase(AuditFlush.Always, AuditDurability.Flushed)]
    public async Task Facts_of_an_exchange_are_one_record_of_the_spool_flushed_first_where_that_is_asked_for(
        AuditFlush flush,
        AuditDurability durability
    )
    {
        var trail = Trail(new MemoryAuditStore(_spool), AuditMode.Spooled, flush);

        await trail.RecordAsync(
            [new AuditRecord(_fact), new AuditRecord(SomeFacts.Fact(), Some.Message())],
            trail.RecordsFirst("in") ? AuditDurability.Flushed : AuditDurability.Written,
            default
        );

        await _spool
            .Received(1)
            .AppendAsync(
                Arg.Is<IReadOnlyList<AuditFact>>(facts => facts.Count == 2 && facts[0] == _fact),
                durability,
                Arg.Any<CancellationToken>()
            );
    }

    [Test]
    public async Task Strict_facts_of_an_exchange_go_to_the_store()
    {
        var store = new MemoryAuditStore(_spool);

        await Trail(store).RecordAsync([new AuditRecord(_fact), new AuditRecord(SomeFacts.Fact())], AuditDurability.Written, default);

        Assert.That(store.Facts.Count(), Is.EqualTo(2));
        Assert.That(_spool.ReceivedCalls(), Is.Empty);
    }

    private AuditTrail Trail(MemoryAuditStore store, AuditMode mode = AuditMode.Strict, AuditFlush flush = AuditFlush.Accepted) =>
        new(new AuditConfig { Mode = mode, Flush = flush }, store, new RefusedFacts(_loggers.CreateLogger<RefusedFacts>()));
}
