using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Core.Storage;
using Esb.Core.Workflows;
using Esb.Tests.Fakes;
using Esb.Workflows.Workflows.Engine;

namespace Esb.Tests.Workflows.Instances;

/// <summary>Metrics of instances, on the embedded store.</summary>
[CancelAfter(60_000)]
public sealed class WorkflowMetricsTests
{
    [Test]
    public async Task Starts_and_ends_are_counted_once_and_checkpoints_are_timed(CancellationToken cancellationToken)
    {
        using var measured = new Measurements("metered-end");
        await using var bench = await StartAsync(
            """
            { "metered-end": {
                "start": "orders.accepted",
                "correlate": { "order": { "jsonpath": "$.order" } },
                "steps": [
                  { "receive": { "subscribe": "stock.picked", "match": { "order": { "jsonpath": "$.order" } }, "as": "picked" } },
                  { "publish": "out.done" }
                ] } }
            """,
            cancellationToken
        );
        var order = WorkflowBench.Message("orders.accepted", """{ "order": "1" }""");
        await bench.SendAsync("metered-end", order, cancellationToken);
        await bench.SendAsync("metered-end", order, cancellationToken);
        await bench.SendAsync("metered-end", WorkflowBench.Message("orders.accepted", """{ "order": "2" }"""), cancellationToken);
        await bench.SendAsync("metered-end", WorkflowBench.Message("stock.picked", """{ "order": "2" }"""), cancellationToken);
        var ended = await bench.WaitForAsync(WorkflowState.Completed, cancellationToken);
        var instances = await bench.InstancesAsync(cancellationToken);

        await Eventually.BecomesAsync(() => measured.Sum(EsbTelemetry.Metrics.WorkflowEnded) == 1, cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(measured.Sum(EsbTelemetry.Metrics.WorkflowStarted), Is.EqualTo(2), "the copy starts nothing");
            Assert.That(measured.States(EsbTelemetry.Metrics.WorkflowEnded), Is.EqualTo(new[] { nameof(WorkflowState.Completed) }));
            Assert.That(measured.Sum(EsbTelemetry.Metrics.WorkflowStopped), Is.Zero);
            Assert.That(
                measured.Count(EsbTelemetry.Metrics.WorkflowCheckpointDuration),
                Is.EqualTo(instances.Sum(one => one.Version)),
                "one for each version that is stored"
            );
            Assert.That(measured.Of(EsbTelemetry.Metrics.WorkflowCheckpointDuration), Has.All.InRange(double.Epsilon, 60));
            Assert.That(measured.Units[EsbTelemetry.Metrics.WorkflowCheckpointDuration], Is.EqualTo("s"));
            Assert.That(ended.Keys, Is.EqualTo("order=2"));
        });
    }

    [Test]
    public async Task Suspended_instance_is_counted_as_stopped_and_not_as_ended(CancellationToken cancellationToken)
    {
        using var measured = new Measurements("metered-stop");
        await using var bench = await StartAsync(
            """{ "metered-stop": { "start": "orders.open", "steps": [{ "set": { "variables": { "whole": { "message": "body" } } } }] } }""",
            cancellationToken
        );

        await bench.SendAsync("metered-stop", WorkflowBench.Message("orders.open", new string('x', 1_100_000)), cancellationToken);

        await bench.WaitForAsync(WorkflowState.Suspended, cancellationToken);
        await Eventually.BecomesAsync(() => measured.Sum(EsbTelemetry.Metrics.WorkflowStopped) == 1, cancellationToken);
        Assert.Multiple(() =>
        {
            Assert.That(measured.States(EsbTelemetry.Metrics.WorkflowStopped), Is.EqualTo(new[] { nameof(WorkflowState.Suspended) }));
            Assert.That(measured.Sum(EsbTelemetry.Metrics.WorkflowStarted), Is.EqualTo(1));
            Assert.That(measured.Sum(EsbTelemetry.Metrics.WorkflowEnded), Is.Zero);
        });
    }

    [Test]
    public async Task Living_instances_are_a_gauge_by_state(CancellationToken cancellationToken)
    {
        await using var bench = await StartAsync(
            """
            { "gauged": { "start": "orders.open", "steps": [{ "delay": "1h" }] },
              "gauged-none": { "start": "orders.none", "steps": [{ "delay": "1h" }] } }
            """,
            cancellationToken
        );
        for (var i = 0; i < 3; i++)
            await bench.SendAsync("gauged", WorkflowBench.Message("orders.open", "{}"), cancellationToken);
        var first = (await bench.InstancesAsync(cancellationToken))[0];
        await bench.Control.TerminateAsync(first.Id, false, new OperatorDecision("somebody", "over"), cancellationToken);
        bench.Counts.Start();

        await Eventually.BecomesAsync(() => bench.Counts.Living.Count > 0, cancellationToken);
        using var measured = new Measurements("gauged");
        measured.Observe();

        Assert.Multiple(() =>
        {
            Assert.That(
                bench.Counts.Living.Select(count => (count.Workflow, count.State, count.Count)),
                Is.EqualTo(
                    new[]
                    {
                        ("gauged", WorkflowState.Running, 0L),
                        ("gauged", WorkflowState.Waiting, 2L),
                        ("gauged", WorkflowState.Suspended, 0L),
                        ("gauged-none", WorkflowState.Running, 0L),
                        ("gauged-none", WorkflowState.Waiting, 0L),
                        ("gauged-none", WorkflowState.Suspended, 0L),
                    }
                )
            );
            Assert.That(measured.Sum(EsbTelemetry.Metrics.WorkflowInstances), Is.EqualTo(2));
            Assert.That(measured.Units[EsbTelemetry.Metrics.WorkflowInstances], Is.EqualTo("{instance}"));
        });
    }

    [Test]
    public async Task Timer_tells_how_late_it_was(CancellationToken cancellationToken)
    {
        var late = new ConcurrentQueue<double>();
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, of) =>
        {
            if (instrument.Name == EsbTelemetry.Metrics.TimerLateness)
                of.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<double>(
            (_, value, tags, _) =>
            {
                if (tags.Contains(new KeyValuePair<string, object?>(EsbTelemetry.Tags.TimerKind, TimerKinds.Wait)))
                    late.Enqueue(value);
            }
        );
        listener.Start();
        await using var bench = await StartAsync(
            """{ "metered-wait": { "start": "orders.open", "steps": [{ "delay": "1s" }] } }""",
            cancellationToken
        );

        await bench.SendAsync("metered-wait", WorkflowBench.Message("orders.open", "{}"), cancellationToken);
        await bench.WaitForAsync(WorkflowState.Completed, cancellationToken);

        Assert.That(late, Is.Not.Empty.And.All.InRange(0, 60));
    }

    private static async Task<WorkflowBench> StartAsync(string workflows, CancellationToken cancellationToken)
    {
        var bench = new WorkflowBench(workflows);
        await bench.StartAsync(cancellationToken);
        return bench;
    }

    /// <summary>Measurements of one workflow: other tests run beside this one in the same process.</summary>
    private sealed class Measurements : IDisposable
    {
        private readonly MeterListener _listener = new();
        private readonly ConcurrentQueue<(string Name, double Value, string? State)> _all = [];
        private readonly string _workflow;

        public Measurements(string workflow)
        {
            _workflow = workflow;
            _listener.InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Meter.Name != "Esb.Workflows")
                    return;
                Units[instrument.Name] = instrument.Unit;
                listener.EnableMeasurementEvents(instrument);
            };
            _listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Keep(instrument, value, tags));
            _listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) => Keep(instrument, value, tags));
            _listener.Start();
        }

        public ConcurrentDictionary<string, string?> Units { get; } = [];

        public void Observe() => _listener.RecordObservableInstruments();

        public IEnumerable<double> Of(string name) => _all.Where(one => one.Name == name).Select(one => one.Value);

        public double Sum(string name) => Of(name).Sum();

        public int Count(string name) => Of(name).Count();

        public IEnumerable<string?> States(string name) => _all.Where(one => one.Name == name).Select(one => one.State);

        public void Dispose() => _listener.Dispose();

        private void Keep(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            var (isOurs, state) = (false, (string?)null);
            foreach (var (name, text) in tags)
            {
                isOurs |= name == EsbTelemetry.Tags.Workflow && (string?)text == _workflow;
                if (name == EsbTelemetry.Tags.State)
                    state = (string?)text;
            }

            if (isOurs)
                _all.Enqueue((instrument.Name, value, state));
        }
    }
}
