using System.Globalization;
using Esb.Core.Errors;
using Esb.Delivery.Intake.Holds;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Timers;
using Esb.Tests.Endpoints.Files;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Timers;

[CancelAfter(60_000)]
public sealed class TimerInboundTests
{
    private static readonly TimeSpan Hour = TimeSpan.FromHours(1);

    private readonly TimerInboundConfig _hourly = new()
    {
        Name = "hourly",
        Path = "endpoints.hourly",
        Process = "p",
        Cron = CronRule.Parse("0 * * * *"),
    };
    private ManualTime _time = null!;
    private KeptMarks _marks = null!;
    private IntakeHold _hold = null!;
    private ToldAuditGate _audit = null!;

    private RecordingIntake Intake { get; set; } = null!;

    private string Due =>
        string.Join(
            ' ',
            Intake.Messages.Select(message => ((string)message.Properties!["timer.due"])["2026-01-".Length..^":00:00Z".Length])
        );

    [SetUp]
    public void CreateHost() =>
        (_time, _marks, _audit, Intake, _hold) = (new(), new(), new(), new(), new IntakeHold("hourly", TimeProvider.System));

    [Test]
    public async Task Each_tick_is_a_message_with_its_due_time(CancellationToken cancellationToken)
    {
        await using var timer = await StartAsync(_hourly, cancellationToken);

        await AdvanceAsync(Hour, 1, cancellationToken);
        await AdvanceAsync(Hour, 2, cancellationToken);

        Assert.That(Due, Is.EqualTo("01T01 01T02"));
        Assert.That(
            Intake.Messages.Select(message => message.Id),
            Is.EqualTo(new[] { 1, 2 }.Select(hour => TimerTick.Of("hourly", At(hour)).MessageId)),
            "endpoint and time make the id"
        );
    }

    [TestCase(MissedTicks.Skip, "02T06")]
    [TestCase(MissedTicks.Once, "02T05 02T06")]
    [TestCase(MissedTicks.All, "02T01 02T02 02T03 02T04 02T05 02T06")]
    public async Task Ticks_missed_while_no_host_ran_are_fired_as_configured(
        MissedTicks missed,
        string expected,
        CancellationToken cancellationToken
    )
    {
        await using (await StartAsync(_hourly, cancellationToken))
            _time.Advance(TimeSpan.Zero);
        await KeepLastAsync(At(24), cancellationToken);
        _time.Skip(TimeSpan.FromHours(29.5)); // until half past five on the next day

        await using var timer = await StartAsync(_hourly with { Missed = missed }, cancellationToken);
        var before = expected.Split(' ').Length - 1;
        await Eventually.HoldsAsync(() => Intake.Messages.Count == before, "those missed are fired", cancellationToken);
        await AdvanceAsync(TimeSpan.FromHours(0.5), before + 1, cancellationToken);

        Assert.That(Due, Is.EqualTo(expected));
    }

    [TestCase(59, "01T01"), TestCase(61, "")]
    public async Task Tick_that_is_late_by_up_to_a_minute_is_not_missed(int late, string expected, CancellationToken cancellationToken)
    {
        await KeepLastAsync(At(0), cancellationToken);
        _time.Skip(Hour + TimeSpan.FromSeconds(late));

        await using var timer = await StartAsync(_hourly, cancellationToken);
        await WaitForMarkAsync(At(1), cancellationToken);

        Assert.That(Due, Is.EqualTo(expected));
    }

    [Test]
    public async Task No_more_than_a_day_is_made_up_for(CancellationToken cancellationToken)
    {
        await KeepLastAsync(At(0), cancellationToken);
        _time.Skip(TimeSpan.FromDays(10));

        await using var timer = await StartAsync(_hourly with { Missed = MissedTicks.All }, cancellationToken);
        await WaitForMarkAsync(At(240), cancellationToken);

        Assert.That(Intake.Messages, Has.Count.EqualTo(24));
    }

    [Test]
    public async Task Tick_waits_for_the_one_before([Values] MissedTicks missed, CancellationToken cancellationToken)
    {
        var hold = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Intake.Answer = async (_, token) =>
        {
            await hold.Task.WaitAsync(token);
            return Task.CompletedTask;
        };
        await using var timer = await StartAsync(_hourly with { Missed = missed }, cancellationToken);
        await AdvanceAsync(Hour, 1, cancellationToken);
        for (var hour = 0; hour < 3; hour++)
            _time.Advance(Hour);
        var before = Due;
        hold.SetResult();
        await WaitForMarkAsync(At(4), cancellationToken);

        Assert.That((before, Due), Is.EqualTo(("01T01", missed == MissedTicks.All ? "01T01 01T02 01T03 01T04" : "01T01 01T04")));
    }

    [Test]
    public async Task Nothing_is_fired_while_it_is_paused_and_what_was_missed_is_treated_as_configured(CancellationToken cancellationToken)
    {
        await using var timer = await StartAsync(_hourly with { Missed = MissedTicks.Once }, cancellationToken);
        _hold.Pause(true);
        _time.Advance(Hour + Hour);
        await Eventually.HoldsAsync(() => _hold.Waiting > 0, "it waits", cancellationToken);
        var before = Intake.Messages.Count;
        _hold.Pause(false);
        await Eventually.HoldsAsync(() => Intake.Messages.Count == 1, "it fires", cancellationToken);

        Assert.That((before, Due), Is.EqualTo((0, "01T02")));
    }

    [Test]
    public async Task Tick_that_is_not_accepted_is_tried_again_as_the_same_message(CancellationToken cancellationToken)
    {
        var failures = 0;
        Intake.Answer = (_, _) =>
            Interlocked.Increment(ref failures) == 1
                ? throw new EsbException("ESB-TOPIC-UNAVAILABLE", "The broker is away.", FaultKind.Unavailable)
                : Task.FromResult(Task.CompletedTask);
        await using var timer = await StartAsync(_hourly, cancellationToken);
        await AdvanceAsync(Hour, 1, cancellationToken);
        await PassAsync(() => Intake.Messages.Count == 2, cancellationToken);

        Assert.That(Intake.Messages.Select(message => message.Id).Distinct().Count(), Is.EqualTo(1));
    }

    [Test]
    public async Task Tick_whose_process_refuses_it_does_not_hold_up_the_next(CancellationToken cancellationToken)
    {
        Intake.Answer = (_, _) => throw new EsbException("ESB-VAL-SCHEMA", "Not valid.", FaultKind.Invalid);
        await using var timer = await StartAsync(_hourly, cancellationToken);
        await AdvanceAsync(Hour, 1, cancellationToken);
        await WaitForMarkAsync(At(1), cancellationToken);
        await AdvanceAsync(Hour, 2, cancellationToken);

        Assert.That(Due, Is.EqualTo("01T01 01T02"));
    }

    [Test]
    public async Task Tick_that_cannot_be_recorded_is_not_fired_again_by_this_host(CancellationToken cancellationToken)
    {
        await using var timer = await StartAsync(_hourly, cancellationToken);
        Intake.Answer = (_, _) =>
        {
            _marks.IsAway = true;
            return Task.FromResult(Task.CompletedTask);
        };
        await AdvanceAsync(Hour, 1, cancellationToken);
        _time.Advance(TimeSpan.FromSeconds(10));
        _marks.IsAway = false;
        await PassAsync(() => IsRecorded(At(1)), cancellationToken);

        Assert.That(Intake.Messages, Has.Count.EqualTo(1));
    }

    [Test]
    public async Task Next_host_goes_on_where_the_last_tick_was(CancellationToken cancellationToken)
    {
        await using (await StartAsync(_hourly, cancellationToken))
            await AdvanceAsync(Hour, 1, cancellationToken, andRecorded: At(1));
        await using var timer = await StartAsync(_hourly with { Missed = MissedTicks.All }, cancellationToken);
        await AdvanceAsync(Hour, 2, cancellationToken);

        Assert.That(Due, Is.EqualTo("01T01 01T02"));
    }

    [Test]
    public async Task Changed_rule_has_missed_nothing(CancellationToken cancellationToken)
    {
        await KeepLastAsync(At(0), cancellationToken);
        _time.Skip(TimeSpan.FromHours(5.5));

        await using var timer = await StartAsync(
            _hourly with
            {
                Cron = CronRule.Parse("30 * * * *"),
                Missed = MissedTicks.All,
            },
            cancellationToken
        );
        await AdvanceAsync(Hour, 1, cancellationToken);

        Assert.That(Intake.Messages.Select(message => message.Properties!["timer.due"]), Is.EqualTo(["2026-01-01T06:30:00Z"]));
    }

    private static DateTimeOffset At(int hours) => new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero).AddHours(hours);

    private TimerMark MarkOf(TimerInboundConfig config) => new(config.Name, new TimerRule(config), _marks);

    private Task KeepLastAsync(DateTimeOffset last, CancellationToken cancellationToken) =>
        MarkOf(_hourly).KeepAsync(last, cancellationToken);

    private bool IsRecorded(DateTimeOffset tick) =>
        !_marks.IsAway && MarkOf(_hourly).FindAsync(CancellationToken.None).GetAwaiter().GetResult() == tick;

    private Task WaitForMarkAsync(DateTimeOffset tick, CancellationToken cancellationToken) =>
        Eventually.HoldsAsync(
            () => IsRecorded(tick),
            string.Create(CultureInfo.InvariantCulture, $"the tick {tick:O} is recorded"),
            cancellationToken
        );

    private async Task AdvanceAsync(TimeSpan by, int messages, CancellationToken cancellationToken, DateTimeOffset? andRecorded = null)
    {
        await Eventually.HoldsAsync(() => _time.Waiting > 0, "it waits for the next tick", cancellationToken);
        _time.Advance(by);
        await Eventually.HoldsAsync(() => Intake.Messages.Count == messages, $"{messages} ticks are fired", cancellationToken);
        if (andRecorded is { } tick)
            await WaitForMarkAsync(tick, cancellationToken);
    }

    // Lets pauses pass whose length does not matter.
    private Task PassAsync(Func<bool> condition, CancellationToken cancellationToken) =>
        Eventually.HoldsAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromMilliseconds(500));
                return condition();
            },
            "it happens",
            cancellationToken
        );

    private async Task<TimerInboundEndpoint> StartAsync(TimerInboundConfig config, CancellationToken cancellationToken)
    {
        var rule = new TimerRule(config);
        var mark = new TimerMark(config.Name, rule, _marks);
        var admission = new Admission(null, _audit, Intake.NeedsTopics, new CallGate(1, _time), _hold);
        var desk = new TimerDesk(
            config,
            new TimerHandOver(config, new TimerBody(null, null), Intake, _time),
            mark,
            admission,
            _time,
            NullLogger<TimerDesk>.Instance
        );
        var endpoint = new TimerInboundEndpoint(config, rule, mark, desk, admission, _time, NullLogger<TimerInboundEndpoint>.Instance);
        await endpoint.StartAsync(cancellationToken);
        await Eventually.HoldsAsync(() => _marks.Count > 0, "it knows its last tick", cancellationToken);
        return endpoint;
    }
}
