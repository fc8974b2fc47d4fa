using System.Globalization;
using System.Runtime.InteropServices;
using SideBySide.Measuring;
using SideBySide.Targets;

namespace SideBySide.Reports;

/// <summary>Where, when, how and on what something was measured.</summary>
internal sealed record RunFacts(string Date, string Commit, string Machine, string Command, string Method)
{
    public static async Task<RunFacts> CollectAsync(
        Surroundings surroundings,
        CompareOptions options,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        var scenarios = options.Wanted.Count == 0 ? "" : $" {string.Join(' ', options.Wanted)}";
        return new RunFacts(
            time.GetUtcNow().ToString("yyyy-MM-dd HH:mm", CultureInfo.InvariantCulture) + " UTC",
            await CommitAsync(surroundings, cancellationToken),
            DescribeMachine(),
            $"loadtests/compare{(options.Earlier is not null ? " --earlier" : options.IsQuick ? " --quick" : "")}{scenarios}",
            options.Method.Describe()
        );
    }

    private static async Task<string> CommitAsync(Surroundings surroundings, CancellationToken cancellationToken)
    {
        try
        {
            var command = (string[])["git", "-C", surroundings.Root, "describe", "--always", "--dirty", "--exclude=*"];
            return (await Tool.RunAsync(command, [], TimeSpan.FromSeconds(10), cancellationToken)).Trim();
        }
        catch (NotRunException)
        {
            return "unknown"; // a copy without its history
        }
    }

    private static string DescribeMachine()
    {
        var processor = First("/proc/cpuinfo", "model name", ':');
        var memory = First("/proc/meminfo", "MemTotal", ':').Split(' ')[0];
        var system = First("/etc/os-release", "PRETTY_NAME", '=').Trim('"');
        var gigabytes = long.TryParse(memory, CultureInfo.InvariantCulture, out var kilobytes)
            ? $"{kilobytes / 1024 / 1024} GiB"
            : "unknown memory";
        return $"{Environment.ProcessorCount} cores ({processor}), {gigabytes}, {system}, {RuntimeInformation.FrameworkDescription}";
    }

    private static string First(string file, string name, char separator) =>
        File.Exists(file) && File.ReadLines(file).FirstOrDefault(line => line.StartsWith(name, StringComparison.Ordinal)) is { } line
            ? line[(line.IndexOf(separator) + 1)..].Trim()
            : "unknown";
}
