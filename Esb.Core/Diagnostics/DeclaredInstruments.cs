using System.Collections.Frozen;
using System.Diagnostics.Metrics;
using System.Reflection;

namespace Esb.Core.Diagnostics;

/// <summary>Creates the instruments of the metrics in <see cref="EsbTelemetry.Metrics"/>, with the declared unit and description.</summary>
/// <remarks>Each throws <see cref="ArgumentException"/> for a metric that is not declared, or is of another kind.</remarks>
public static class DeclaredInstruments
{
    /// <summary>All metrics, by name.</summary>
    public static readonly FrozenDictionary<string, MetricAttribute> All = typeof(EsbTelemetry.Metrics)
        .GetFields(BindingFlags.Public | BindingFlags.Static)
        .ToFrozenDictionary(field => (string)field.GetRawConstantValue()!, field => field.GetCustomAttribute<MetricAttribute>()!);

    private static readonly InstrumentAdvice<double> Durations = new() { HistogramBucketBoundaries = EsbTelemetry.DurationBuckets };

    /// <summary>Creates a counter.</summary>
    public static Counter<T> Counter<T>(this Meter meter, string metric)
        where T : struct
    {
        var declared = Declared(metric, MetricKind.Counter);
        return meter.CreateCounter<T>(metric, declared.Unit, declared.Description);
    }

    /// <summary>Creates an up-down counter.</summary>
    public static UpDownCounter<T> UpDownCounter<T>(this Meter meter, string metric)
        where T : struct
    {
        var declared = Declared(metric, MetricKind.UpDownCounter);
        return meter.CreateUpDownCounter<T>(metric, declared.Unit, declared.Description);
    }

    /// <summary>Creates a gauge.</summary>
    public static Gauge<T> Gauge<T>(this Meter meter, string metric)
        where T : struct
    {
        var declared = Declared(metric, MetricKind.Gauge);
        return meter.CreateGauge<T>(metric, declared.Unit, declared.Description);
    }

    /// <summary>Creates a histogram; one in seconds advises <see cref="EsbTelemetry.DurationBuckets"/>.</summary>
    public static Histogram<T> Histogram<T>(this Meter meter, string metric)
        where T : struct
    {
        var declared = Declared(metric, MetricKind.Histogram);
        var advice = declared.Unit == "s" ? Durations as InstrumentAdvice<T> : null;
        return meter.CreateHistogram(metric, declared.Unit, declared.Description, tags: null, advice);
    }

    /// <summary>Creates a gauge that is asked for its value.</summary>
    public static void ObservableGauge<T>(this Meter meter, string metric, Func<T> observe)
        where T : struct
    {
        var declared = Declared(metric, MetricKind.Gauge);
        meter.CreateObservableGauge(metric, observe, declared.Unit, declared.Description);
    }

    /// <summary>Creates a gauge that is asked for its values.</summary>
    public static void ObservableGauge<T>(this Meter meter, string metric, Func<IEnumerable<Measurement<T>>> observe)
        where T : struct
    {
        var declared = Declared(metric, MetricKind.Gauge);
        meter.CreateObservableGauge(metric, observe, declared.Unit, declared.Description);
    }

    /// <summary>Creates a counter that is asked for its values.</summary>
    public static void ObservableCounter<T>(this Meter meter, string metric, Func<IEnumerable<Measurement<T>>> observe)
        where T : struct
    {
        var declared = Declared(metric, MetricKind.Counter);
        meter.CreateObservableCounter(metric, observe, declared.Unit, declared.Description);
    }

    private static MetricAttribute Declared(string metric, MetricKind kind) =>
        All.TryGetValue(metric, out var declared) && declared.Kind == kind
            ? declared
            : throw new ArgumentException($"The metric '{metric}' is not declared as {kind}.", nameof(metric));
}
