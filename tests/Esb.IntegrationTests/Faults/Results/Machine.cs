using System.Runtime.InteropServices;

namespace Esb.IntegrationTests.Faults.Results;

/// <summary>What the tests run on.</summary>
internal static class Machine
{
    public static string Describe()
    {
        var memory = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / (1024d * 1024 * 1024);
        return $"{Environment.ProcessorCount} cores ({Processor()}), {memory:0} GiB, {RuntimeInformation.OSDescription}, .NET "
            + $"{Environment.Version}";
    }

    private static string Processor()
    {
        if (!File.Exists("/proc/cpuinfo"))
            return $"{RuntimeInformation.ProcessArchitecture}";
        var line = File.ReadLines("/proc/cpuinfo").FirstOrDefault(line => line.StartsWith("model name", StringComparison.Ordinal));
        return line?.Split(':', 2)[1].Trim() ?? $"{RuntimeInformation.ProcessArchitecture}";
    }
}
