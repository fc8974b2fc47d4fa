using Esb.Core.Alerts;
using Esb.Core.Marks;
using Esb.Delivery.Marks;
using Microsoft.Extensions.Logging.Abstractions;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Delivery;

/// <summary>Marks have hysteresis: crossed at the high one, until the load has fallen to the low one.</summary>
public sealed class MarkKeeperTests
{
    private readonly IAlerts _alerts = Substitute.For<IAlerts>();
    private Load _load = null!;
    private MarkKeeper _keeper = null!;

    [SetUp]
    public void Create()
    {
        _alerts.ClearReceivedCalls();
        _load = new Load();
        _keeper = new MarkKeeper([_load], TimeProvider.System, NullLogger<MarkKeeper>.Instance, _alerts);
    }

    [TearDown]
    public void Dispose() => _keeper.Dispose();

    [Test]
    public async Task Mark_is_crossed_at_high_until_the_load_is_down_to_low()
    {
        var crossed = new List<bool>();
        foreach (var value in new[] { 9.9, 10, 5, 4.1, 4, 9.9, 10 })
            crossed.Add(await LookAsync(value));

        Assert.That(crossed, Is.EqualTo(new[] { false, true, true, true, false, false, true }));
        Assert.That(_keeper.All.Single().Crossings, Is.EqualTo(2));
        _alerts.Received(2).Raise(Arg.Is<Alert>(alert => alert.Kind == AlertKinds.Mark && alert.Endpoint == "ledger"));
    }

    [Test]
    public async Task Notice_names_load_and_marks_while_it_is_crossed()
    {
        await LookAsync(12);
        var notice = _keeper.Notices.Single();
        await LookAsync(1);

        Assert.That(notice, Is.EqualTo("ESB-MARK-CROSSED: waiting of endpoint ledger: 12 messages, marks 10 and 4; nothing comes in"));
        Assert.That(_keeper.Notices, Is.Empty);
    }

    [Test]
    public async Task Intake_is_held_only_by_a_crossed_mark_that_demands_it()
    {
        await LookAsync(12);
        var shown = _keeper.IntakeObstacle;
        _load.HoldsIntake = true;
        await LookAsync(12);
        var held = _keeper.IntakeObstacle;
        await LookAsync(3);

        Assert.That((shown, held is null, _keeper.IntakeObstacle), Is.EqualTo(((string?)null, false, (string?)null)));
    }

    [Test]
    public async Task What_enforces_a_mark_decides_whether_it_is_crossed()
    {
        _load.IsCrossed = false;
        var before = await LookAsync(50);
        _load.IsCrossed = true;

        Assert.That((before, await LookAsync(1)), Is.EqualTo((false, true)));
    }

    [Test]
    public async Task Mark_that_was_removed_while_crossed_is_forgotten_and_holds_nothing()
    {
        _load.HoldsIntake = true;
        await LookAsync(12);
        _load.IsRemoved = true;
        await _keeper.LookAsync(_load, CancellationToken.None);

        Assert.That((_keeper.All.Count, _keeper.Notices.Count(), _keeper.IntakeObstacle), Is.EqualTo((0, 0, (string?)null)));
        _alerts.Received(1).Raise(Arg.Any<Alert>());
    }

    private async Task<bool> LookAsync(double value)
    {
        _load.Value = value;
        await _keeper.LookAsync(_load, CancellationToken.None);
        return _keeper.All.Single().IsCrossed;
    }

    private sealed class Load : IMarkSource
    {
        public double Value { get; set; }

        public bool HoldsIntake { get; set; }

        public bool? IsCrossed { get; set; }

        public bool IsRemoved { get; set; }

        public ValueTask<IReadOnlyList<MarkMeasure>> MeasureAsync(CancellationToken cancellationToken) =>
            new(
                IsRemoved
                    ? []
                    :
                    [
                        new MarkMeasure(MarkNames.Waiting, "ledger", Value, 10, 4, "messages")
                        {
                            Effect = "nothing comes in",
                            HoldsIntake = HoldsIntake,
                            IsCrossed = IsCrossed,
                        },
                    ]
            );
    }
}
