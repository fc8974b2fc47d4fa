using System.Diagnostics.Metrics;
using BenchmarkDotNet.Attributes;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Diagnostics;
using Esb.Host.Metrics;
using Esb.Host.Telemetry;

namespace Esb.Benchmarks;

/// <summary>What the counters of the host cost for a message, a count and a duration of an endpoint, a topic and a party, beside the same
/// measurements without anybody who listens.</summary>
[MemoryDiagnoser]
public class CounterBenchmark
{
    private static readonly KeyValuePair<string, object?> Endpoint = new(EsbTelemetry.Tags.Endpoint, "shop");
    private static readonly KeyValuePair<string, object?> Topic = new(EsbTelemetry.Tags.Topic, "orders");
    private static readonly KeyValuePair<string, object?> Party = new(EsbTelemetry.Tags.Party, "acme");

    private readonly Meter _unheard = new("Esb.Benchmarks");
    private readonly Meter _heard = new("Esb.Host");
    private readonly MetricsCollector _collector = new(new TelemetryConfig(), TimeProvider.System);

    private Counter<long> _unheardCount = null!;
    private Histogram<double> _unheardTime = null!;
    private Counter<long> _count = null!;
    private Histogram<double> _time = null!;

    [GlobalSetup]
    public async Task ListenAsync()
    {
        (_unheardCount, _unheardTime) = (
            _unheard.CreateCounter<long>(EsbTelemetry.Metrics.SentOutside),
            _unheard.CreateHistogram<double>(EsbTelemetry.Metrics.OutboundDuration)
        );
        (_count, _time) = (
            _heard.CreateCounter<long>(EsbTelemetry.Metrics.SentOutside),
            _heard.CreateHistogram<double>(EsbTelemetry.Metrics.OutboundDuration)
        );
        await _collector.StartAsync(CancellationToken.None);
    }

    [GlobalCleanup]
    public async Task DeafenAsync()
    {
        await _collector.StopAsync(CancellationToken.None);
        _unheard.Dispose();
        _heard.Dispose();
    }

    [Benchmark(Baseline = true)]
    public void Unheard()
    {
        _unheardCount.Add(1, Endpoint, Topic, Party);
        _unheardTime.Record(0.0123, Endpoint, Topic, Party);
    }

    [Benchmark]
    public void Counted()
    {
        _count.Add(1, Endpoint, Topic, Party);
        _time.Record(0.0123, Endpoint, Topic, Party);
    }
}
