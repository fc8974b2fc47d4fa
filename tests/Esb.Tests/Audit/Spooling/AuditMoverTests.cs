using System.Diagnostics.Metrics;
using Esb.Audit;
using Esb.Audit.Spooling;
using Esb.Core.Audit;
using Esb.Core.Diagnostics;
using Esb.Core.Errors;
using Esb.Storage.Files;
using Esb.Storage.Segments;
using Esb.Storage.Spool;
using Esb.Tests.Storage;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.Tests.Audit.Spooling;

[NonParallelizable] // the metric is the assembly's
public sealed class AuditMoverTests
{
    private static readonly EsbException Away = new("ESB-AUD-WRITE", "away", FaultKind.Unavailable);
    private static readonly EsbException Refused = new("ESB-AUD-WRITE", "refused", FaultKind.Internal);

    private static readonly RefusedFacts Aside = new(NullLogger<RefusedFacts>.Instance);

    private string _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-").FullName;

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_folder, recursive: true);

    [Test, CancelAfter(30_000)]
    public async Task Facts_arrive_in_the_store_and_leave_the_spool(CancellationToken cancellationToken)
    {
        await using var spool = OpenSpool();
        var store = new MemoryAuditStore(spool);
        using var mover = await StartAsync(store, cancellationToken);
        var trail = new AuditTrail(new AuditConfig(), store, Aside);
        var facts = Enumerable.Range(0, 50).Select(_ => SomeFacts.Fact()).ToList();

        await Task.WhenAll(facts.Select(fact => trail.RecordAsync(fact, cancellationToken).AsTask()));
        await Eventually.HoldsAsync(() => spool.Length == 0, cancellationToken);

        Assert.That(store.Facts.Select(fact => fact.Id), Is.EquivalentTo(facts.Select(fact => fact.Id)));
        await mover.StopAsync(cancellationToken);
    }

    [Test, CancelAfter(30_000), Property("Case", "T-AUD-1")]
    public async Task Facts_wait_while_the_store_is_away_and_arrive_once_it_is_back(CancellationToken cancellationToken)
    {
        await using var spool = OpenSpool();
        var asked = 0;
        var store = new MemoryAuditStore(spool) { Failure = _ => ++asked <= 2 ? Away : null };
        using var mover = await StartAsync(store, cancellationToken);

        await spool.AppendAsync(SomeFacts.Fact(), cancellationToken);
        await Eventually.HoldsAsync(() => store.Facts.Count() == 1 && spool.Length == 0, cancellationToken);

        Assert.That(asked, Is.EqualTo(3));
        await mover.StopAsync(cancellationToken);
    }

    [Test, CancelAfter(30_000), Property("Case", "AUD-05")]
    public async Task A_refused_fact_is_put_aside_and_holds_up_no_other(CancellationToken cancellationToken)
    {
        await using var spool = OpenSpool();
        var bad = SomeFacts.Fact();
        var store = new MemoryAuditStore(spool) { Failure = facts => facts.Any(fact => fact.Id == bad.Id) ? Refused : null };
        AuditFact[] facts = [SomeFacts.Fact(), bad, SomeFacts.Fact()];
        foreach (var fact in facts)
            await spool.AppendAsync(fact, cancellationToken);

        using var mover = await StartAsync(store, cancellationToken);
        await Eventually.HoldsAsync(() => spool.Length == 0, cancellationToken);
        await mover.StopAsync(cancellationToken);

        var aside = new SegmentReader(Path.Combine(_folder, "refused"), committed: null, NullLogger.Instance)
            .ReadNew()
            .SelectMany(record => StoredFact.Read(record.Payload))
            .ToList();
        Assert.That(store.Facts.Select(fact => fact.Id), Is.EqualTo([facts[0].Id, facts[2].Id]));
        Assert.That(aside.Select(fact => fact.Id), Is.EqualTo([bad.Id]));
    }

    [Test, CancelAfter(30_000), Property("Case", "AUD-05")]
    public async Task A_refused_fact_is_put_aside_once_however_often_its_group_is_tried(CancellationToken cancellationToken)
    {
        await using var spool = OpenSpool();
        AuditFact[] facts = [SomeFacts.Fact(), SomeFacts.Fact()];
        var failures = 0;
        var store = new MemoryAuditStore(spool)
        {
            Failure = group =>
                group.Any(fact => fact.Id == facts[0].Id) ? Refused
                : failures++ < 2 ? Away
                : null,
        };
        foreach (var fact in facts)
            await spool.AppendAsync(fact, cancellationToken);

        using var mover = await StartAsync(store, cancellationToken);
        await Eventually.HoldsAsync(() => spool.Length == 0, cancellationToken);
        await mover.StopAsync(cancellationToken);

        var aside = new SegmentReader(Path.Combine(_folder, "refused"), committed: null, NullLogger.Instance)
            .ReadNew()
            .SelectMany(record => StoredFact.Read(record.Payload))
            .ToList();
        Assert.That(store.Facts.Select(fact => fact.Id), Is.EqualTo([facts[1].Id]));
        Assert.That((failures, aside.Select(fact => fact.Id).ToArray()), Is.EqualTo((3, new[] { facts[0].Id })));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-AUD-2")]
    public async Task What_was_not_moved_before_a_stop_is_moved_after_the_next_start(CancellationToken cancellationToken)
    {
        var fact = SomeFacts.Fact();
        await using (var spool = OpenSpool())
        {
            using var mover = await StartAsync(new MemoryAuditStore(spool) { Failure = _ => Away }, cancellationToken);
            await spool.AppendAsync(fact, cancellationToken);
            await mover.StopAsync(cancellationToken);
        }

        await using var again = OpenSpool();
        var store = new MemoryAuditStore(again);
        using var next = await StartAsync(store, cancellationToken);
        await Eventually.HoldsAsync(() => store.Facts.Any(), cancellationToken);

        Assert.That(store.Facts.Single().Id, Is.EqualTo(fact.Id));
        await next.StopAsync(cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Stopping_moves_what_is_still_in_the_spool(CancellationToken cancellationToken)
    {
        await using var spool = OpenSpool();
        var store = new MemoryAuditStore(spool);
        using var mover = await StartAsync(store, cancellationToken);

        await spool.AppendAsync(SomeFacts.Fact(), cancellationToken);
        await mover.StopAsync(cancellationToken);

        Assert.That(store.Facts.Count(), Is.EqualTo(1));
    }

    [Test, CancelAfter(30_000)]
    public async Task The_queue_length_counts_what_waits(CancellationToken cancellationToken)
    {
        long length = 0;
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (instrument is { Meter.Name: "Esb.Audit", Name: EsbTelemetry.Metrics.AuditQueueLength, Unit: "{fact}" })
                l.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<long>((_, change, _, _) => Interlocked.Add(ref length, change));
        listener.Start();

        await using var spool = OpenSpool();
        var isAway = true;
        var store = new MemoryAuditStore(spool) { Failure = _ => isAway ? Away : null };
        await spool.AppendAsync(SomeFacts.Fact(), cancellationToken); // waits from before the start
        using var mover = await StartAsync(store, cancellationToken);
        var trail = new AuditTrail(new AuditConfig(), store, Aside);
        for (var i = 0; i < 4; i++)
            await trail.RecordAsync(SomeFacts.Fact(), cancellationToken);
        var whileAway = Interlocked.Read(ref length);
        isAway = false;
        await mover.StopAsync(cancellationToken);

        Assert.That((whileAway, Interlocked.Read(ref length)), Is.EqualTo((5, 0)));
    }

    private AuditSpool OpenSpool() => new(_folder, SpoolOptions.Of(512 << 20), TimeProvider.System, NullLogger.Instance);

    private static async Task<AuditMover> StartAsync(IAuditStore store, CancellationToken cancellationToken)
    {
        var mover = new AuditMover(store, Aside, TimeProvider.System, NullLogger<AuditMover>.Instance);
        await mover.StartAsync(cancellationToken);
        return mover;
    }
}
