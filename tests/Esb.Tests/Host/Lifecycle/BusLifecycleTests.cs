using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Esb.Configuration;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Topics;
using Esb.Host.Lifecycle;
using Esb.Topics.Memory;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.Tests.Host.Lifecycle;

[CancelAfter(30_000)]
public sealed class BusLifecycleTests
{
    private static readonly LimitsConfig Limits = new() { DrainDelay = TimeSpan.FromMilliseconds(50) };

    private readonly HostState _state = new();
    private readonly Endpoints _endpoints = new();
    private readonly List<string> _events = [];

    [SetUp]
    public void Forget()
    {
        _events.Clear();
        _endpoints.InFlight = 0;
    }

    [Test]
    public async Task Parts_start_by_stage_and_stop_the_other_way_round(CancellationToken cancellationToken)
    {
        var bus = Bus(
            Part("reader", BusStage.Inbound),
            Part("topics", BusStage.Topics),
            Part("store", BusStage.Stores),
            Part("sender", BusStage.Outbound)
        );

        await bus.StartAsync(cancellationToken);
        var outcome = await bus.StopAsync(cancellationToken);

        Assert.That(_events, Is.EqualTo(new[] { "+store", "+topics", "+sender", "+reader", "-reader", "-sender", "-topics", "-store" }));
        Assert.That(outcome.IsClean, Is.True);
    }

    [Test]
    public async Task Host_is_ready_once_all_has_started_and_not_any_more_when_stopping_begins(CancellationToken cancellationToken)
    {
        var state = new HostState();
        string? seenWhileStarting = null,
            seenWhileStopping = null;
        var part = Part(
            "reader",
            BusStage.Inbound,
            start: _ => Note(() => seenWhileStarting = state.Obstacle),
            stop: _ => Note(() => seenWhileStopping = state.Obstacle)
        );
        var bus = Bus(state, part);

        await bus.StartAsync(cancellationToken);
        var seenRunning = state.Obstacle;
        await bus.StopAsync(cancellationToken);

        Assert.That(new[] { seenWhileStarting, seenRunning, seenWhileStopping }, Is.EqualTo(new[] { "starting", null, "stopping" }));
    }

    [Test]
    public async Task Endpoint_that_fails_to_start_leaves_the_others_running_and_the_host_ready(CancellationToken cancellationToken)
    {
        var state = new HostState();
        var bus = Bus(
            state,
            Part("broken", BusStage.Outbound, start: _ => throw new InvalidOperationException("no")),
            Part("reader", BusStage.Inbound)
        );

        await bus.StartAsync(cancellationToken);

        Assert.That(_events, Is.EqualTo(new[] { "+broken", "+reader" }));
        Assert.That(state.Obstacle, Is.Null);
    }

    [TestCase(BusStage.Stores), TestCase(BusStage.Topics)]
    public void Store_or_topics_that_cannot_start_end_the_start(BusStage stage, CancellationToken cancellationToken)
    {
        var fault = new EsbException("ESB-STORE-INUSE", "The folder is in use by another host.", FaultKind.Internal);
        var bus = Bus(Part("broken", stage, start: _ => throw fault), Part("reader", BusStage.Inbound));

        Assert.That(() => bus.StartAsync(cancellationToken), Throws.Exception.SameAs(fault));
        Assert.That(_events, Does.Not.Contain("+reader"));
    }

    [Test]
    public void Configuration_that_cannot_be_had_ends_the_start(CancellationToken cancellationToken)
    {
        var refusal = new ConfigurationRefusedException([
            new ConfigError("ESB-CFG-PORT", "listeners.public.url", null, "the port is in use"),
        ]);
        var bus = Bus(Part("reader", BusStage.Inbound, start: _ => throw refusal));

        Assert.That(() => bus.StartAsync(cancellationToken), Throws.Exception.SameAs(refusal));
    }

    [Test]
    public async Task Part_that_fails_to_stop_does_not_keep_the_others_from_stopping(CancellationToken cancellationToken)
    {
        var bus = Bus(
            Part("reader", BusStage.Inbound, stop: _ => throw new InvalidOperationException("no")),
            Part("store", BusStage.Stores)
        );
        await bus.StartAsync(cancellationToken);

        var outcome = await bus.StopAsync(cancellationToken);

        Assert.That(_events[^1], Is.EqualTo("-store"));
        Assert.That(outcome.IsClean, Is.False);
    }

    [Test]
    public async Task Second_signal_drops_the_work_under_way(CancellationToken cancellationToken)
    {
        using var abandon = new CancellationTokenSource();
        var bus = Bus(Part("reader", BusStage.Inbound, stop: token => Task.Delay(Timeout.Infinite, token)), Part("store", BusStage.Stores));
        await bus.StartAsync(cancellationToken);

        var stopping = bus.StopAsync(abandon.Token);
        Assert.That(stopping.IsCompleted, Is.False);
        await abandon.CancelAsync();

        Assert.That(await stopping.WaitAsync(cancellationToken), Is.EqualTo(new StopOutcome(IsClean: false, Abandoned: 0)));
        Assert.That(_events[^1], Is.EqualTo("-store"));
    }

    [Test]
    public async Task Messages_under_way_when_the_time_is_up_are_counted_before_they_are_let_go(CancellationToken cancellationToken)
    {
        var bus = new BusLifecycle(
            Limits with
            {
                DrainTimeout = TimeSpan.FromMilliseconds(200),
            },
            [Part("sender", BusStage.Outbound, stop: LetGo)],
            [_endpoints],
            [],
            _state,
            TimeProvider.System,
            NullLogger<BusLifecycle>.Instance
        );
        await bus.StartAsync(cancellationToken);
        _endpoints.InFlight = 3;

        var outcome = await bus.StopAsync(CancellationToken.None);

        Assert.That(outcome, Is.EqualTo(new StopOutcome(IsClean: false, Abandoned: 3)));

        async Task LetGo(CancellationToken timeIsUp)
        {
            await using var _ = timeIsUp.Register(() => _endpoints.InFlight = 0);
            await Task.Delay(Timeout.Infinite, timeIsUp)
                .ContinueWith(_ => { }, CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        }
    }

    [Test]
    public async Task Messages_that_wait_in_memory_at_a_paused_endpoint_are_counted_too_when_the_time_is_up(
        CancellationToken cancellationToken
    )
    {
        await using var transport = new MemoryTransport(
            new LimitsConfig { InFlight = 100 },
            TimeProvider.System,
            NullLogger<MemoryTransport>.Instance
        );
        var (begun, finish) = (new TaskCompletionSource(), new TaskCompletionSource());
        var wanted = new Subscription("busy", [SubjectPattern.Parse("orders.#")!], 1, 32, SingleActive: false, new QueueConfig(), []);
        await using var paused = await transport.SubscribeAsync(
            wanted with
            {
                Endpoint = "paused",
            },
            (_, _) => ValueTask.FromResult(Settlement.Done),
            cancellationToken
        );
        await paused.TuneAsync(concurrency: 1, prefetch: 32, isPaused: true, cancellationToken);
        await using var busy = await transport.SubscribeAsync(wanted, WorkAsync, cancellationToken);
        var bus = new BusLifecycle(
            Limits with
            {
                DrainTimeout = TimeSpan.FromMilliseconds(200),
            },
            [Part("sender", BusStage.Outbound, stop: transport.DrainAsync)],
            [_endpoints],
            [transport],
            _state,
            TimeProvider.System,
            NullLogger<BusLifecycle>.Instance
        );
        await bus.StartAsync(cancellationToken);
        for (var i = 0; i < 3; i++)
            await transport.PublishAsync(Some.Message(subject: "orders.new"), cancellationToken);
        await begun.Task.WaitAsync(cancellationToken);

        var outcome = await bus.StopAsync(CancellationToken.None);
        finish.SetResult();

        Assert.That(
            outcome,
            Is.EqualTo(new StopOutcome(IsClean: false, Abandoned: 6)),
            "three at the paused endpoint; at the other one under way, which that says, and two behind it"
        );

        async ValueTask<Settlement> WorkAsync(TopicDelivery delivery, CancellationToken aborting)
        {
            _endpoints.InFlight = 1;
            begun.TrySetResult();
            await finish.Task;
            return Settlement.Done;
        }
    }

    [Test]
    public async Task What_was_under_way_is_counted_as_drained_or_abandoned(CancellationToken cancellationToken)
    {
        var counted = new ConcurrentQueue<(string Name, string? Unit, long Value)>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (instrument.Meter.Name == "Esb.Host")
                    self.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, _, _) => counted.Enqueue((instrument.Name, instrument.Unit, value)));
        listener.Start();
        var bus = new BusLifecycle(
            Limits with
            {
                DrainTimeout = TimeSpan.FromMilliseconds(200),
            },
            [Part("sender", BusStage.Outbound, stop: FinishMost)],
            [_endpoints],
            [],
            _state,
            TimeProvider.System,
            NullLogger<BusLifecycle>.Instance
        );
        await bus.StartAsync(cancellationToken);
        _endpoints.InFlight = 17;

        await bus.StopAsync(CancellationToken.None);

        Assert.That(
            counted,
            Has.Some.EqualTo(("esb.message.drained", "{message}", 15L)).And.Some.EqualTo(("esb.message.abandoned", "{message}", 2L))
        );

        async Task FinishMost(CancellationToken timeIsUp)
        {
            _endpoints.InFlight = 2;
            await Task.Delay(Timeout.Infinite, timeIsUp)
                .ContinueWith(_ => { }, CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        }
    }

    [Test]
    public async Task Intake_goes_on_for_the_delay_while_the_host_says_that_it_is_not_ready(CancellationToken cancellationToken)
    {
        var bus = new BusLifecycle(
            Limits with
            {
                DrainDelay = TimeSpan.FromSeconds(1),
            },
            [Part("reader", BusStage.Inbound)],
            [_endpoints],
            [],
            _state,
            TimeProvider.System,
            NullLogger<BusLifecycle>.Instance
        );
        await bus.StartAsync(cancellationToken);

        var stopping = bus.StopAsync(CancellationToken.None);

        Assert.That(_state.Obstacle, Is.EqualTo("stopping"));
        Assert.That(_events, Does.Not.Contain("-reader"));
        await stopping.WaitAsync(cancellationToken);
        Assert.That(_events, Does.Contain("-reader"));
    }

    [Test]
    public async Task Part_that_hangs_does_not_hang_the_host(CancellationToken cancellationToken)
    {
        var bus = Bus(Part("reader", BusStage.Inbound, stop: _ => new TaskCompletionSource().Task), Part("store", BusStage.Stores));
        await bus.StartAsync(cancellationToken);

        var outcome = await bus.StopAsync(abandon: new CancellationToken(canceled: true)).WaitAsync(cancellationToken);

        Assert.That(outcome.IsClean, Is.False);
        Assert.That(_events[^1], Is.EqualTo("-store"));
    }

    private static Task Note(Action action)
    {
        action();
        return Task.CompletedTask;
    }

    private BusLifecycle Bus(params IBusPart[] parts) => Bus(_state, parts);

    private BusLifecycle Bus(HostState state, params IBusPart[] parts) =>
        new(Limits, parts, [_endpoints], [], state, TimeProvider.System, NullLogger<BusLifecycle>.Instance);

    private ScriptedPart Part(
        string name,
        BusStage stage,
        Func<CancellationToken, Task>? start = null,
        Func<CancellationToken, Task>? stop = null
    ) => new(name, stage, _events, start ?? (_ => Task.CompletedTask), stop ?? (_ => Task.CompletedTask));

    private sealed class Endpoints : IEndpointMonitor
    {
        public int InFlight { get; set; }

        IReadOnlyList<EndpointStatus> IEndpointMonitor.Endpoints =>
            [
                new()
                {
                    Name = "orders",
                    Type = "http-outbound",
                    State = EndpointState.Running,
                    InFlight = InFlight,
                },
            ];
    }

    private sealed class ScriptedPart(
        string name,
        BusStage stage,
        List<string> events,
        Func<CancellationToken, Task> start,
        Func<CancellationToken, Task> stop
    ) : IBusPart
    {
        public BusStage Stage => stage;

        public Task StartAsync(CancellationToken cancellationToken)
        {
            events.Add($"+{name}");
            return start(cancellationToken);
        }

        public Task StopAsync(CancellationToken cancellationToken)
        {
            events.Add($"-{name}");
            return stop(cancellationToken);
        }
    }
}
