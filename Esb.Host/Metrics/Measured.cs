namespace Esb.Host.Metrics;

/// <summary>The kinds of counters.</summary>
internal enum CounterKind
{
    DocumentsIn,
    Refused,
    DocumentsOut,
    DeadLettered,
    Parked,
    InstancesStarted,
    InstancesEnded,
    InstancesStopped,
}

/// <summary>The kinds of durations.</summary>
internal enum LatencyKind
{
    Inbound,
    Request,
    Outbound,
    Adapter,
    Checkpoint,
}

/// <summary>The metrics of one endpoint, topic, party or workflow, created on first use. Thread-safe.</summary>
internal sealed class Measured(string name)
{
    private readonly CounterSeries?[] _counters = new CounterSeries?[Enum.GetValues<CounterKind>().Length];
    private readonly DurationSeries?[] _latencies = new DurationSeries?[Enum.GetValues<LatencyKind>().Length];

    public string Name => name;

    public CounterSeries Counter(CounterKind kind) =>
        Volatile.Read(ref _counters[(int)kind])
        ?? Interlocked.CompareExchange(ref _counters[(int)kind], new CounterSeries(), null)
        ?? _counters[(int)kind]!;

    public DurationSeries Latency(LatencyKind kind) =>
        Volatile.Read(ref _latencies[(int)kind])
        ?? Interlocked.CompareExchange(ref _latencies[(int)kind], new DurationSeries(), null)
        ?? _latencies[(int)kind]!;

    /// <summary>The total since the start; 0 if nothing was counted.</summary>
    public long Total(CounterKind kind) => Volatile.Read(ref _counters[(int)kind])?.Total ?? 0;

    public CounterSummary? Summarize(CounterKind kind) => Volatile.Read(ref _counters[(int)kind])?.Summarize();

    public DurationSummary? Summarize(LatencyKind kind) => Volatile.Read(ref _latencies[(int)kind])?.Summarize();

    public void Sample(long now)
    {
        foreach (var counter in _counters)
            counter?.Sample(now);
    }

    public void Step()
    {
        foreach (var latency in _latencies)
            latency?.Step();
    }

    public void ResetPeaks()
    {
        foreach (var counter in _counters)
            counter?.ResetPeak();
        foreach (var latency in _latencies)
            latency?.ResetPeak();
    }
}
