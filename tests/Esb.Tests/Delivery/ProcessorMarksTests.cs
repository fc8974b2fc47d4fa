using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Marks;
using Esb.Delivery.Marks;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery;

/// <summary>The load of the processor: means over some seconds, shown as metrics, and as marks where these are configured.</summary>
public sealed class ProcessorMarksTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly ManualTime _time = new();
    private TimeSpan _used;
    private int? _ready;
    private ProcessorLoad _load = null!;

    [SetUp]
    public void Create()
    {
        (_used, _ready) = (TimeSpan.Zero, 0);
        _load = new ProcessorLoad(_time, () => _used, () => _ready);
        _load.Measure();
    }

    [TearDown]
    public void Dispose() => _load.Dispose();

    [Test]
    public void Usage_is_a_share_of_all_processors()
    {
        Pass(share: 0.5, ready: 0);

        Assert.That(_load.Usage, Is.EqualTo(50).Within(0.1));
    }

    [Test]
    public void Burst_of_a_second_moves_the_mean_by_a_tenth_and_a_long_one_all_the_way()
    {
        Pass(share: 0, ready: 0);
        Pass(share: 1, ready: 20 * Environment.ProcessorCount);
        var burst = (_load.Usage, _load.Queue);
        for (var i = 0; i < 60; i++)
            Pass(share: 1, ready: 20 * Environment.ProcessorCount);

        Assert.Multiple(() =>
        {
            Assert.That(burst.Usage, Is.EqualTo(9.5).Within(0.1));
            Assert.That(burst.Queue, Is.EqualTo(1.9).Within(0.1));
            Assert.That(_load.Usage, Is.EqualTo(100).Within(1));
            Assert.That(_load.Queue, Is.EqualTo(20).Within(0.2));
        });
    }

    [Test]
    public void Queue_is_unknown_where_the_system_does_not_say()
    {
        Pass(share: 0, ready: null);

        Assert.That(_load.Queue, Is.Null);
    }

    [TestCase("0.20 0.18 0.12 3/80 11206\n", 3)]
    [TestCase("", null)]
    [TestCase("0.20 0.18 0.12 x/80 11206", null)]
    public void Threads_that_are_ready_are_read_from_the_line_of_the_system(string line, int? ready) =>
        Assert.That(ProcessorLoad.ParseReady(line), Is.EqualTo(ready));

    [Test]
    public async Task Marks_are_measured_only_where_they_are_configured()
    {
        var (none, both) = (
            new LimitsConfig(),
            new LimitsConfig
            {
                ProcessorHigh = 90,
                ProcessorQueueHigh = 8,
                ProcessorQueueLow = 3,
            }
        );
        _time.Advance(Second);
        var unmarked = await new ProcessorMarks(_load, none).MeasureAsync(CancellationToken.None);
        _time.Advance(Second);
        var marked = await new ProcessorMarks(_load, both).MeasureAsync(CancellationToken.None);

        Assert.Multiple(() =>
        {
            Assert.That(unmarked, Is.Empty);
            Assert.That(
                marked.Select(mark => (mark.Name, mark.High, mark.Low)),
                Is.EqualTo(new[] { (MarkNames.Processor, 90d, 45d), (MarkNames.ProcessorQueue, 8d, 3d) })
            );
        });
    }

    private void Pass(double share, int? ready)
    {
        _time.Advance(Second);
        _used += Second * share * Environment.ProcessorCount;
        _ready = ready;
        _load.Measure();
    }
}
