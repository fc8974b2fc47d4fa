using Esb.Configuration;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Delivery.Intake.Overload;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;
using NSubstitute;

namespace Esb.Tests.Delivery.Intake.Overload;

public sealed class OverloadGateTests
{
    private static readonly LimitsConfig Limits = new()
    {
        InFlightHigh = 4,
        InFlightLow = 2,
        MemoryHigh = 80,
        MemoryLow = 70,
    };

    private ITopicTransport _transport = null!;
    private ManualTime _time = null!;
    private LogLines _lines = null!;
    private int _memory;
    private int _collections;
    private OverloadGate _gate = null!;

    [SetUp]
    public void CreateGate()
    {
        (_memory, _collections, _time, _lines, _transport) = (0, 0, new ManualTime(), new LogLines(), Substitute.For<ITopicTransport>());
        using var loggers = LoggerFactory.Create(logging => logging.AddProvider(_lines));
        _transport.Status.Returns(new TransportStatus(IsReady: true));
        _gate = new OverloadGate(
            Limits,
            new MemoryMarks(Limits, _time, () => _memory, () => _collections++),
            _transport,
            _time,
            loggers.CreateLogger<OverloadGate>()
        );
    }

    [TearDown]
    public async Task Dispose()
    {
        _lines.Dispose();
        await _transport.DisposeAsync();
    }

    [Test]
    public void Gate_closes_above_the_high_mark_and_opens_at_the_low_one()
    {
        for (var i = 0; i < 4; i++)
            _gate.Enter(needsTopics: true);
        Assert.That(Refusal().Code, Is.EqualTo("ESB-OVERLOAD"));

        _gate.Leave();
        Assert.That(Refusal().RetryAfter, Is.GreaterThan(TimeSpan.Zero), "three are inside");
        _gate.Leave();

        Assert.That(() => _gate.Enter(needsTopics: true), Throws.Nothing);
        Assert.That(_gate.InFlight, Is.EqualTo(3));
    }

    [Test]
    public async Task Of_many_at_once_no_more_than_the_high_mark_are_inside()
    {
        var (inside, most, refused) = (0, 0, 0);
        using var start = new Barrier(16);
        await Task.WhenAll(
            Enumerable
                .Range(0, 16)
                .Select(_ => Task.Factory.StartNew(Work, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default))
        );

        Assert.That((_gate.InFlight, refused > 0), Is.EqualTo((0, true)));
        Assert.That(most, Is.LessThanOrEqualTo(4));
        Assert.That(() => _gate.Enter(needsTopics: false), Throws.Nothing, "it does not stay closed");

        void Work()
        {
            start.SignalAndWait();
            for (var i = 0; i < 2_000; i++)
            {
                try
                {
                    _gate.Enter(needsTopics: false);
                }
                catch (EsbException)
                {
                    Interlocked.Increment(ref refused);
                    continue;
                }

                InterlockedMax(ref most, Interlocked.Increment(ref inside));
                for (var turn = 0; turn < 10; turn++)
                    Thread.Yield();
                Interlocked.Decrement(ref inside);
                _gate.Leave();
            }
        }
    }

    [Test]
    public void Gate_closes_at_the_high_mark_of_memory_until_it_is_below_the_low_one()
    {
        Measure(79);
        Assert.That(() => _gate.Enter(needsTopics: false), Throws.Nothing);
        Measure(80);
        Assert.That(Refusal().Message, Does.Contain("80%"));
        Measure(70);
        Assert.That(Refusal().Code, Is.EqualTo("ESB-OVERLOAD"));
        Assert.That(_collections, Is.EqualTo(2), "or nothing would shrink");
        Measure(69);
        Assert.That(() => _gate.Enter(needsTopics: false), Throws.Nothing);
    }

    [Test]
    public void Gate_is_closed_to_those_who_publish_while_the_topics_take_nothing()
    {
        _transport.Status.Returns(new TransportStatus(IsReady: false, "low on memory"));

        var refusal = Refusal();

        Assert.That((refusal.Code, refusal.Kind), Is.EqualTo(("ESB-TOPIC-UNAVAILABLE", FaultKind.Unavailable)));
        Assert.That(refusal.Message, Does.Contain("low on memory"));
        Assert.That(() => _gate.Enter(needsTopics: false), Throws.Nothing);
    }

    [Test]
    public async Task What_waits_enters_once_there_is_less_to_do_and_closes_the_gate_to_no_caller()
    {
        for (var i = 0; i < 4; i++)
            _gate.Enter(needsTopics: true);
        var waiting = _gate.WaitAsync(needsTopics: true, CancellationToken.None).AsTask();
        var atOnce = waiting.IsCompleted;
        _gate.Leave();
        Assert.That(() => _gate.Enter(needsTopics: true), Throws.Nothing, "a caller comes before what can wait");
        _time.Advance(TimeSpan.FromMilliseconds(250));
        var whileFull = waiting.IsCompleted;

        _gate.Leave();
        _time.Advance(TimeSpan.FromMilliseconds(250));
        await waiting;

        Assert.That((atOnce, whileFull, _gate.InFlight), Is.EqualTo((false, false, 4)));
        Assert.That(_lines.All.Single().Text, Does.Contain("messages that can wait are left where they are"));
    }

    [Test]
    public async Task What_waits_enters_once_memory_is_below_the_low_mark()
    {
        Measure(80);
        var waiting = _gate.WaitAsync(needsTopics: false, CancellationToken.None).AsTask();
        Measure(70);
        var above = waiting.IsCompleted;

        Measure(69);
        await waiting;

        Assert.That((above, _gate.InFlight), Is.EqualTo((false, 1)));
    }

    [Test]
    public async Task What_is_to_be_published_waits_for_the_topics()
    {
        _transport.Status.Returns(new TransportStatus(IsReady: false, "low on memory"));
        var waiting = _gate.WaitAsync(needsTopics: true, CancellationToken.None).AsTask();
        using var stopping = new CancellationTokenSource();
        var stopped = _gate.WaitAsync(needsTopics: true, stopping.Token).AsTask();
        await stopping.CancelAsync();

        _transport.Status.Returns(new TransportStatus(IsReady: true));
        _time.Advance(TimeSpan.FromMilliseconds(250));
        await waiting;

        Assert.That(() => stopped, Throws.InstanceOf<OperationCanceledException>());
        Assert.That(_gate.InFlight, Is.EqualTo(1));
    }

    [Test]
    public void Overload_is_logged_once_in_ten_seconds()
    {
        for (var i = 0; i < 4; i++)
            _gate.Enter(needsTopics: true);
        for (var i = 0; i < 100; i++)
            Refusal();
        Assert.That(_lines.All, Has.Count.EqualTo(1));

        _time.Advance(TimeSpan.FromSeconds(11));
        Refusal();

        Assert.That(_lines.All, Has.Count.EqualTo(2));
    }

    [Test]
    public void Memory_of_this_process_is_a_part_of_what_it_may_use() =>
        Assert.That(new MemoryMarks(Limits with { MemoryHigh = 100, MemoryLow = 99 }, TimeProvider.System).AreTight, Is.False);

    private static void InterlockedMax(ref int most, int value)
    {
        int seen;
        while (value > (seen = Volatile.Read(ref most)) && Interlocked.CompareExchange(ref most, value, seen) != seen) { }
    }

    private void Measure(int percent)
    {
        _memory = percent;
        _time.Advance(TimeSpan.FromMilliseconds(250));
    }

    private EsbException Refusal() => Assert.Throws<EsbException>(() => _gate.Enter(needsTopics: true))!;
}
