using Esb.Core.Replays;
using Esb.Delivery.Replay;
using Esb.Tests.Fakes;

namespace Esb.Tests.Delivery.Replay;

public sealed class ReplayPaceTests
{
    [Test]
    public void Messages_go_at_an_even_rate()
    {
        var time = new ManualTime();
        var pace = new ReplayPace(rate: 4, time);

        var waits = Enumerable.Range(0, 5).Select(_ => pace.WaitAsync(CancellationToken.None)).ToList();
        var atOnce = waits.Count(wait => wait.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(0.5));

        Assert.That(atOnce, Is.EqualTo(1));
        Assert.That(waits.Count(wait => wait.IsCompleted), Is.EqualTo(3));
    }

    [Test]
    public void What_was_not_used_is_not_made_up_for()
    {
        var time = new ManualTime();
        var pace = new ReplayPace(rate: 4, time);
        time.Advance(TimeSpan.FromMinutes(1));

        var waits = Enumerable.Range(0, 5).Select(_ => pace.WaitAsync(CancellationToken.None)).ToList();

        Assert.That(waits.Count(wait => wait.IsCompleted), Is.EqualTo(1));
    }

    [Test]
    public void Batches_double_while_nothing_comes_back()
    {
        var batches = new ReplayBatches(new ReplayRequest { Letters = new(), BatchSize = 70 });

        var sizes = new[] { false, true, false, false, false }.Select(cameBack =>
        {
            var size = batches.Left;
            batches.CountSent(size);
            Assert.That(batches.Left, Is.Zero);
            batches.Begin(cameBack);
            return size;
        });

        Assert.That(sizes, Is.EqualTo([10, 20, 20, 40, 70]));
    }

    [Test]
    public void Without_a_batch_size_there_is_no_pause()
    {
        var batches = new ReplayBatches(new ReplayRequest { Letters = new() });

        batches.CountSent(1_000_000);

        Assert.That(batches.Left, Is.Positive);
    }
}
