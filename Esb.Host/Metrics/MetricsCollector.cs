using System.Diagnostics.Metrics;
using Esb.Configuration;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Diagnostics;
using Esb.Host.Telemetry;

namespace Esb.Host.Metrics;

/// <summary>Collects the measurements of this process for operators: totals, rates, latencies and peaks, of each endpoint, topic, party
/// and workflow. Thread-safe.</summary>
/// <remarks>A measurement neither allocates nor locks; the sets of names are bounded.</remarks>
internal sealed class MetricsCollector : IBusPart, IRevisionPart, IDisposable
{
    private static readonly TimeSpan SampleTime = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan StepTime = TimeSpan.FromMinutes(1);

    private static readonly Dictionary<string, CounterKind> Counters = new()
    {
        [EsbTelemetry.Metrics.ReceivedMessages] = CounterKind.DocumentsIn,
        [EsbTelemetry.Metrics.SentMessages] = CounterKind.DocumentsIn, // of topics
        [EsbTelemetry.Metrics.SentOutside] = CounterKind.DocumentsOut,
        [EsbTelemetry.Metrics.DeadLettered] = CounterKind.DeadLettered,
        [EsbTelemetry.Metrics.Parked] = CounterKind.Parked,
        [EsbTelemetry.Metrics.WorkflowStarted] = CounterKind.InstancesStarted,
        [EsbTelemetry.Metrics.WorkflowEnded] = CounterKind.InstancesEnded,
        [EsbTelemetry.Metrics.WorkflowStopped] = CounterKind.InstancesStopped,
    };

    private static readonly Dictionary<string, LatencyKind> Latencies = new()
    {
        [EsbTelemetry.Metrics.InboundDuration] = LatencyKind.Inbound,
        [EsbTelemetry.Metrics.RequestDuration] = LatencyKind.Request,
        [EsbTelemetry.Metrics.OutboundDuration] = LatencyKind.Outbound,
        [EsbTelemetry.Metrics.AdapterDuration] = LatencyKind.Adapter,
        [EsbTelemetry.Metrics.WorkflowCheckpointDuration] = LatencyKind.Checkpoint,
    };

    private readonly TimeProvider _time;
    private readonly Live<TelemetryConfig> _telemetry;
    private readonly Lock _sampling = new();
    private volatile MeterListener? _listener;
    private ITimer? _timer;
    private long _steppedAt;

    public MetricsCollector(Live<TelemetryConfig> telemetry, TimeProvider time)
    {
        (_telemetry, _time) = (telemetry, time);
        Since = PeaksSince = time.GetUtcNow();
        _steppedAt = time.GetTimestamp();
    }

    public BusStage Stage => BusStage.Stores;

    /// <summary>True if the configuration enables metrics.</summary>
    public bool IsEnabled => _telemetry.Current.Counters;

    /// <summary>The time since which totals are counted.</summary>
    public DateTimeOffset Since { get; }

    /// <summary>The time of the last peak reset.</summary>
    public DateTimeOffset PeaksSince { get; private set; }

    /// <summary>The host as a whole.</summary>
    public Measured Total { get; } = new("total");

    public MeasuredSet Endpoints { get; } = new();

    public MeasuredSet Topics { get; } = new();

    public MeasuredSet Parties { get; } = new();

    public MeasuredSet Workflows { get; } = new();

    private IEnumerable<Measured> All => [Total, .. Endpoints.All, .. Topics.All, .. Parties.All, .. Workflows.All];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        Listen(IsEnabled);
        return Task.CompletedTask;
    }

    public Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        Listen(IsEnabled);
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        Dispose();
        return Task.CompletedTask;
    }

    public void ResetPeaks()
    {
        PeaksSince = _time.GetUtcNow();
        foreach (var measured in All)
            measured.ResetPeaks();
    }

    public void Dispose() => Listen(isWanted: false);

    /// <summary>Samples every counter; called once a second by a timer.</summary>
    internal void Sample()
    {
        lock (_sampling)
        {
            var now = _time.GetTimestamp();
            var ticks = _time.GetElapsedTime(0, now).Ticks;
            var isStep = _time.GetElapsedTime(_steppedAt, now) >= StepTime;
            if (isStep)
                _steppedAt = now;
            foreach (var measured in All)
            {
                measured.Sample(Math.Max(ticks, 1));
                if (isStep)
                    measured.Step();
            }
        }
    }

    private void Listen(bool isWanted)
    {
        if (isWanted == _listener is not null)
            return;
        if (isWanted)
        {
            _listener = NewListener();
            _listener.Start();
            _timer = _time.CreateTimer(_ => Sample(), null, SampleTime, SampleTime);
            return;
        }

        _timer?.Dispose();
        _listener?.Dispose();
        (_timer, _listener) = (null, null);
    }

    private MeterListener NewListener()
    {
        var listener = new MeterListener { InstrumentPublished = Follow };
        listener.SetMeasurementEventCallback<long>(
            static (instrument, count, tags, state) =>
                ((Route)state!).Collector.Count(((Route)state).Counter, count, new MeasuredTags(tags))
        );
        listener.SetMeasurementEventCallback<double>(
            static (instrument, seconds, tags, state) =>
                ((Route)state!).Collector.Record(((Route)state).Latency, seconds, new MeasuredTags(tags))
        );
        return listener;
    }

    private void Follow(Instrument instrument, MeterListener listener)
    {
        if (!EsbTelemetry.Sources.Contains(instrument.Meter.Name))
            return;
        if (Counters.TryGetValue(instrument.Name, out var counter))
            listener.EnableMeasurementEvents(instrument, new Route(this, counter, default));
        else if (Latencies.TryGetValue(instrument.Name, out var latency))
            listener.EnableMeasurementEvents(instrument, new Route(this, default, latency));
    }

    private void Count(CounterKind kind, long count, MeasuredTags tags)
    {
        if (tags.Workflow is { } workflow)
        {
            Workflows.Of(workflow).Counter(kind).Add(count);
            return;
        }

        if (kind == CounterKind.DocumentsIn && tags.Endpoint is null)
        {
            if (!tags.HasFailed && tags.Topic is { } topic)
                Topics.Of(topic).Counter(kind).Add(count); // published
            return;
        }

        if (kind == CounterKind.DocumentsIn && tags.Outcome is "refused" or "failed" or "aborted")
            kind = CounterKind.Refused;
        Total.Counter(kind).Add(count);
        if (tags.Endpoint is { } endpoint)
            Endpoints.Of(endpoint).Counter(kind).Add(count);
        if (tags.Topic is { } source)
            Topics.Of(source).Counter(kind).Add(count);
        if (tags.Party is { } party)
            Parties.Of(party).Counter(kind).Add(count);
    }

    private void Record(LatencyKind kind, double seconds, MeasuredTags tags)
    {
        if (tags.Workflow is { } workflow)
        {
            Workflows.Of(workflow).Latency(kind).Record(seconds);
            return;
        }

        Total.Latency(kind).Record(seconds);
        if (tags.Endpoint is { } endpoint)
            Endpoints.Of(endpoint).Latency(kind).Record(seconds);
        if (tags.Topic is { } topic)
            Topics.Of(topic).Latency(kind).Record(seconds);
        if (tags.Party is { } party)
            Parties.Of(party).Latency(kind).Record(seconds);
    }

    private sealed record Route(MetricsCollector Collector, CounterKind Counter, LatencyKind Latency);
}
