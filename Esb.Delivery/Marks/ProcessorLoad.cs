using System.Diagnostics.Metrics;
using System.Globalization;
using Esb.Core.Diagnostics;

namespace Esb.Delivery.Marks;

/// <summary>The processor time that this host uses, and the threads of the machine that run or wait for a processor. Measured by one caller
/// at a time, read by any.</summary>
/// <remarks>Both are means of about ten seconds: a short burst is no load.</remarks>
public sealed class ProcessorLoad : IDisposable
{
    private const double Window = 10; // seconds
    private const string Loads = "/proc/loadavg";

    private readonly Meter _meter = new(EndpointsTelemetry.Meter.Name); // per host: gauges keep references to their sources
    private readonly TimeProvider _time;
    private readonly Func<TimeSpan> _used;
    private readonly Func<int?> _ready;
    private (long At, TimeSpan Used)? _last;
    private Reading _reading = new(null, null);

    public ProcessorLoad(TimeProvider time)
        : this(time, static () => Environment.CpuUsage.TotalTime, ReadReady) { }

    /// <param name="time">The clock.</param>
    /// <param name="used">Processor time that the process has used since its start.</param>
    /// <param name="ready">Threads of the machine that run or wait for a processor; null if the system does not say.</param>
    internal ProcessorLoad(TimeProvider time, Func<TimeSpan> used, Func<int?> ready)
    {
        (_time, _used, _ready) = (time, used, ready);
        _meter.ObservableGauge(EsbTelemetry.Metrics.ProcessorUsage, () => Observe(Usage));
        _meter.ObservableGauge(EsbTelemetry.Metrics.ProcessorQueue, () => Observe(Queue));
    }

    /// <summary>Processor time in use, in percent of all processors that the process may use; null until it was measured twice.</summary>
    public double? Usage => _reading.Usage;

    /// <summary>Threads of the machine that run or wait, for each processor; null if the system does not say.</summary>
    public double? Queue => _reading.Queue;

    public void Measure()
    {
        var (at, used, ready) = (_time.GetTimestamp(), _used(), _ready() / (double)Environment.ProcessorCount);
        if (_last is not { } last)
        {
            (_last, _reading) = ((at, used), new Reading(null, ready));
            return;
        }

        var elapsed = _time.GetElapsedTime(last.At, at).TotalSeconds;
        if (elapsed <= 0)
            return;
        var share = 1 - Math.Exp(-elapsed / Window);
        var usage = Math.Clamp(100 * (used - last.Used).TotalSeconds / elapsed / Environment.ProcessorCount, 0, 100);
        _reading = new Reading(Mean(Usage, usage, share), ready is { } count ? Mean(Queue, count, share) : null);
        _last = (at, used);
    }

    public void Dispose() => _meter.Dispose();

    /// <summary>Reads the fourth value of a line such as <c>0.20 0.18 0.12 3/80 11206</c>: see proc_loadavg(5).</summary>
    internal static int? ParseReady(string loads)
    {
        var parts = loads.Split(' ');
        return parts.Length > 3 && int.TryParse(parts[3].Split('/')[0], CultureInfo.InvariantCulture, out var ready) ? ready : null;
    }

    private static double Mean(double? before, double value, double share) => before is { } mean ? mean + ((value - mean) * share) : value;

    private static IEnumerable<Measurement<double>> Observe(double? value) => value is { } known ? [new Measurement<double>(known)] : [];

    private static int? ReadReady()
    {
        try
        {
            return OperatingSystem.IsLinux() ? ParseReady(File.ReadAllText(Loads)) : null;
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            return null; // hidden from this user or container
        }
    }

    private sealed record Reading(double? Usage, double? Queue);
}
