using System.Globalization;
using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;

namespace SideBySide.Flames;

/// <summary>Samples the hosts of the bus while a round runs, and draws a flame graph of it. Needs <c>perf</c> (Debian: linux-perf), the
/// right to use it, and the variables that <c>loadtests/compare</c> sets, for the names of compiled methods.</summary>
/// <param name="folder">Where the pictures go.</param>
internal sealed class HostProfile(string folder)
{
    // No divisor of the timer's rate, so that samples do not fall on the same work again and again.
    private const string SamplesPerSecond = "149";

    private static readonly TimeSpan Deadline = TimeSpan.FromMinutes(2);

    /// <param name="title">Of the picture, and the name of its file.</param>
    /// <param name="duration">Of the round.</param>
    /// <param name="measure">The round.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <exception cref="NotRunException"><c>perf</c> failed.</exception>
    public async Task<Sample> DrawAsync(string title, TimeSpan duration, Func<Task<Sample>> measure, CancellationToken cancellationToken)
    {
        Directory.CreateDirectory(folder);
        var data = Path.Combine(folder, "perf.data");
        var seconds = duration.TotalSeconds.ToString(CultureInfo.InvariantCulture);
        var recording = Tool.RunAsync(
            [
                "perf",
                "record",
                "-q",
                "-g",
                "-F",
                SamplesPerSecond,
                "-p",
                string.Join(',', ProcessTree.Running(Path.GetFileName(EsbHost.Program))),
                "-o",
                data,
                "--",
                "sleep",
                seconds,
            ],
            [],
            duration + Deadline,
            cancellationToken
        );
        var sample = await measure();
        await recording;
        var script = await Tool.RunAsync(
            ["perf", "script", "--no-inline", "-i", data, "-F", "ip,sym,dso"],
            [],
            Deadline,
            cancellationToken
        );
        var file = $"{string.Concat(title.ToLowerInvariant().Select(c => char.IsAsciiLetterOrDigit(c) ? c : '-'))}.svg";
        await File.WriteAllTextAsync(Path.Combine(folder, file), FlameGraph.Write(title, Stacks.Read(script)), cancellationToken);
        File.Delete(data);
        return sample;
    }
}
