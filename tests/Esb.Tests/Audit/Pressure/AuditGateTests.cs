using System.Diagnostics.Metrics;
using Esb.Audit;
using Esb.Audit.Pressure;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Diagnostics;
using Esb.Core.Errors;
using Esb.Tests.Fakes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Audit.Pressure;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class AuditGateTests : IDisposable
{
    private readonly ManualTime _time = new();
    private readonly LogLines _lines = new();
    private readonly IAuditSpool _spool = Substitute.For<IAuditSpool>();
    private readonly IAuditStore _store = Substitute.For<IAuditStore>();
    private readonly ILoggerFactory _loggers;
    private AuditGate? _gate;

    public AuditGateTests()
    {
        _loggers = LoggerFactory.Create(logging => logging.AddProvider(_lines));
        _spool.MaxBytes.Returns(1000);
        _store.Spool.Returns(_spool);
    }

    public void Dispose()
    {
        _gate?.Dispose();
        _loggers.Dispose();
        _lines.Dispose();
    }

    [Test, CancelAfter(30_000), Property("Case", "T-AUD-1")]
    public async Task Full_spool_lets_nobody_begin_until_there_is_room(CancellationToken cancellationToken)
    {
        var gate = await StartAsync(AuditMode.Spooled);
        await FillAsync(gate, 950, isOpen: false, cancellationToken);

        var refused = Assert.ThrowsAsync<EsbException>(async () => await gate.EnterAsync(cancellationToken));
        var waiting = gate.WaitAsync(cancellationToken).AsTask();

        Assert.That(
            (refused!.Code, refused.Kind, refused.RetryAfter),
            Is.EqualTo(("ESB-AUD-FULL", FaultKind.Unavailable, (TimeSpan?)TimeSpan.FromSeconds(5)))
        );
        Assert.That(await gate.CheckAsync(cancellationToken), Is.EqualTo("the spool is full to 95 %"), "and the host is not ready");
        Assert.That(waiting.IsCompleted, Is.False);
        await FillAsync(gate, 699, isOpen: true, cancellationToken);
        await Eventually.HoldsAsync(() => waiting.IsCompleted || Advance(), cancellationToken);
        Assert.That(async () => await gate.EnterAsync(cancellationToken), Throws.Nothing);
        Assert.That(_lines.All.Count(line => line.Text.Contains("Intake and delivery paused")), Is.EqualTo(1));
        await gate.StopAsync(cancellationToken);
    }

    [Test, CancelAfter(30_000), Property("Case", "T-AUD-1")]
    public async Task Callers_wait_a_little_while_the_spool_fills(CancellationToken cancellationToken)
    {
        _spool.Bytes.Returns(900);
        var gate = await StartAsync(AuditMode.Spooled);
        await Eventually.HoldsAsync(() => _time.Waiting > 0, cancellationToken);

        var entering = gate.EnterAsync(cancellationToken).AsTask();
        _time.Advance(TimeSpan.FromMilliseconds(440));
        var early = entering.IsCompleted;
        _time.Advance(TimeSpan.FromMilliseconds(10));
        await entering;

        Assert.That(early, Is.False, "444 ms at 90 %");
        await gate.StopAsync(cancellationToken);
    }

    [Test, CancelAfter(10_000), Property("Case", "T-AUD-1")]
    public async Task Strict_gate_closes_within_five_seconds_after_the_store_went(CancellationToken cancellationToken)
    {
        _store.CheckAsync(Arg.Any<CancellationToken>()).Returns((string?)null);
        var gate = await StartAsync(AuditMode.Strict);
        await Eventually.HoldsAsync(() => _time.Waiting > 0, cancellationToken);
        Assert.That(async () => await gate.EnterAsync(cancellationToken), Throws.Nothing);

        _store.CheckAsync(Arg.Any<CancellationToken>()).Returns("the database cannot be reached");
        _time.Advance(TimeSpan.FromSeconds(2)); // and a store that does not answer counts as away after 2 s
        await Eventually.HoldsAsync(() => gate.Obstacle is not null, cancellationToken);

        var refused = Assert.ThrowsAsync<EsbException>(async () => await gate.EnterAsync(cancellationToken));
        Assert.That((refused!.Code, refused.IsTransient), Is.EqualTo(("ESB-AUD-WRITE", true)));
        await gate.StopAsync(cancellationToken);
    }

    [Test, CancelAfter(10_000), Property("Case", "T-AUD-2")]
    public async Task Strict_gate_opens_within_three_seconds_after_the_store_came_back(CancellationToken cancellationToken)
    {
        _store.CheckAsync(Arg.Any<CancellationToken>()).Returns("the database cannot be reached");
        var gate = await StartAsync(AuditMode.Strict);
        await Eventually.HoldsAsync(() => _time.Waiting > 0, cancellationToken);
        Assert.That(gate.Obstacle, Is.Not.Null);

        _store.CheckAsync(Arg.Any<CancellationToken>()).Returns((string?)null);
        _time.Advance(TimeSpan.FromMilliseconds(250)); // and a look that began before takes 2 s at most

        await Eventually.HoldsAsync(() => gate.Obstacle is null, cancellationToken);
        Assert.That(async () => await gate.EnterAsync(cancellationToken), Throws.Nothing);
        await gate.StopAsync(cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Gate_follows_the_mode_of_another_revision(CancellationToken cancellationToken)
    {
        _store.CheckAsync(Arg.Any<CancellationToken>()).Returns("the database cannot be reached");
        var revisions = Substitute.For<IRevisions>();
        revisions.Current.Returns(RevisionOf(AuditMode.Spooled));
        _gate = new AuditGate(new Live<AuditConfig>(revisions), _store, _time, _loggers.CreateLogger<AuditGate>());
        await _gate.StartAsync(CancellationToken.None);
        await Eventually.HoldsAsync(() => _time.Waiting > 0, cancellationToken);
        Assert.That(_gate.Obstacle, Is.Null);

        revisions.Current.Returns(RevisionOf(AuditMode.Strict));
        revisions.Exchanged += Raise.Event<Action>();
        await Eventually.HoldsAsync(() => _gate.Obstacle is not null || Advance(), cancellationToken);

        revisions.Current.Returns(RevisionOf(AuditMode.Spooled));
        revisions.Exchanged += Raise.Event<Action>();
        await Eventually.HoldsAsync(() => _gate.Obstacle is null || Advance(), cancellationToken);
        await _gate.StopAsync(cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Look_that_fails_closes_the_gate_is_told_of_once_and_is_not_the_last(CancellationToken cancellationToken)
    {
        var looks = 0;
        _store
            .CheckAsync(Arg.Any<CancellationToken>())
            .Returns(_ =>
                ++looks is 2 or 3 ? throw new InvalidOperationException("no session is free") : new ValueTask<string?>((string?)null)
            );
        var gate = await StartAsync(AuditMode.Strict);
        await Eventually.HoldsAsync(() => looks == 1 && _time.Waiting > 0, cancellationToken);

        _time.Advance(TimeSpan.FromSeconds(2));
        await Eventually.HoldsAsync(() => looks == 2 && _time.Waiting > 0, cancellationToken);
        var refused = Assert.ThrowsAsync<EsbException>(async () => await gate.EnterAsync(cancellationToken));
        _time.Advance(TimeSpan.FromMilliseconds(250));
        await Eventually.HoldsAsync(() => looks == 3 && _time.Waiting > 0, cancellationToken);
        _time.Advance(TimeSpan.FromMilliseconds(250));
        await Eventually.HoldsAsync(() => gate.Obstacle is null, cancellationToken);

        Assert.That((refused!.Code, refused.IsTransient), Is.EqualTo(("ESB-AUD-WRITE", true)));
        Assert.That(_lines.All.Count(line => line.Text.Contains("could not be checked")), Is.EqualTo(1));
        await gate.StopAsync(cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Store_on_this_machine_needs_no_gate(CancellationToken cancellationToken)
    {
        _store.Spool.Returns((IAuditSpool?)null);
        var gate = await StartAsync(AuditMode.Spooled);

        Assert.That(async () => await gate.EnterAsync(cancellationToken), Throws.Nothing);
        Assert.That(gate.Obstacle, Is.Null);
        await gate.StopAsync(cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Size_of_the_spool_and_its_limit_are_metrics(CancellationToken cancellationToken)
    {
        var seen = new Dictionary<string, long>();
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (instrument is { Meter.Name: "Esb.Audit", Unit: "By" })
                l.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, _, _) => seen[instrument.Name] = value);
        _spool.Bytes.Returns(123);
        var gate = await StartAsync(AuditMode.Spooled);
        listener.Start();
        listener.RecordObservableInstruments();

        Assert.That((seen[EsbTelemetry.Metrics.AuditSpoolSize], seen[EsbTelemetry.Metrics.AuditSpoolLimit]), Is.EqualTo((123L, 1000L)));
        await gate.StopAsync(cancellationToken);
    }

    [Test, CancelAfter(30_000)]
    public async Task Age_of_the_oldest_fact_that_waits_is_a_metric(CancellationToken cancellationToken)
    {
        var seen = -1.0;
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (instrument.Name == EsbTelemetry.Metrics.AuditQueueAge)
                l.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<double>((_, value, _, _) => seen = value);
        var gate = await StartAsync(AuditMode.Spooled);
        listener.Start();

        listener.RecordObservableInstruments();
        var whileEmpty = seen;
        _spool.Oldest.Returns(_time.GetUtcNow().AddSeconds(-90));
        listener.RecordObservableInstruments();

        Assert.That((whileEmpty, seen), Is.EqualTo((0.0, 90.0)));
        await gate.StopAsync(cancellationToken);
    }

    private static Revision RevisionOf(AuditMode mode) =>
        new(1, new ServiceCollection().AddSingleton(new AuditConfig { Mode = mode }).BuildServiceProvider());

    private async Task<AuditGate> StartAsync(AuditMode mode)
    {
        _gate = new AuditGate(new AuditConfig { Mode = mode }, _store, _time, _loggers.CreateLogger<AuditGate>());
        await _gate.StartAsync(CancellationToken.None);
        return _gate;
    }

    private Task FillAsync(AuditGate gate, long bytes, bool isOpen, CancellationToken cancellationToken)
    {
        _spool.Bytes.Returns(bytes);
        return Eventually.HoldsAsync(() => (gate.Obstacle is null) == isOpen || Advance(), cancellationToken);
    }

    // Moves the time on, and says that it is too early to tell.
    private bool Advance()
    {
        if (_time.Waiting > 0)
            _time.Advance(TimeSpan.FromMilliseconds(250));
        return false;
    }
}
