using System.Diagnostics;
using System.Globalization;

namespace Esb.IntegrationTests.Faults.Results;

/// <summary>How many cores were busy, on average: with the host, with the test itself (callers and sinks), and with everything that runs on
/// the machine.</summary>
/// <remarks>Callers and servers share the cores here, so a figure of throughput says little without what its callers took.</remarks>
internal sealed record ProcessorUse(double Host, double Test, double Machine)
{
    private const double TicksPerSecond = 100; // USER_HZ, on every Linux that .NET runs on

    /// <summary>Begins to measure; the call that it returns ends it.</summary>
    public static Func<ProcessorUse> Begin(int host)
    {
        var started = TimeProvider.System.GetTimestamp();
        var before = Read(host);
        return () =>
        {
            var (seconds, after) = (TimeProvider.System.GetElapsedTime(started).TotalSeconds, Read(host));
            return new ProcessorUse(
                (after.Host - before.Host) / seconds,
                (after.Test - before.Test) / seconds,
                (after.Machine - before.Machine) / seconds
            );
        };
    }

    public override string ToString() =>
        FormattableString.Invariant($"host {Host:0.00}, callers and sink {Test:0.00}, all {Machine:0.00} cores");

    private static ProcessorUse Read(int host)
    {
        using var process = Process.GetProcessById(host);
        return new ProcessorUse(process.TotalProcessorTime.TotalSeconds, Environment.CpuUsage.TotalTime.TotalSeconds, ReadMachine());
    }

    // cpu user nice system idle iowait irq softirq steal: https://man7.org/linux/man-pages/man5/proc_stat.5.html
    private static double ReadMachine()
    {
        var fields = File.ReadLines("/proc/stat")
            .First()
            .Split(' ', StringSplitOptions.RemoveEmptyEntries)
            .Skip(1)
            .Take(8)
            .Select(field => double.Parse(field, CultureInfo.InvariantCulture))
            .ToArray();
        return (fields.Sum() - fields[3] - fields[4]) / TicksPerSecond;
    }
}
