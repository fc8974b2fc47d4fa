using System.Diagnostics;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>The comparison with peers and limits runs from its first line to its last, short and hardly warm.</summary>
[NonParallelizable, Category("Soak")]
public sealed class CompareTests
{
    private static readonly string[] Scenarios = ["S1", "S2", "S3", "S4", "S5", "S6", "S10", "S12", "S15"];

    [Test, CancelAfter(1_800_000)]
    public async Task Every_scenario_runs_and_every_answer_is_right(CancellationToken cancellationToken)
    {
        var start = new ProcessStartInfo(Repository.PathOf("loadtests", "compare"), ["--quick", "--no-build"])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment["ESB_COMPARE_LIMIT"] = "1500"; // it ends by itself, with all that it has started
        using var process = Process.Start(start)!;
        var (output, error) = (
            process.StandardOutput.ReadToEndAsync(cancellationToken),
            process.StandardError.ReadToEndAsync(cancellationToken)
        );
        await process.WaitForExitAsync(cancellationToken);

        Assert.That(process.ExitCode, Is.Zero, $"{await output}\n{await error}");
        var page = await File.ReadAllTextAsync(Repository.PathOf("loadtests", "results", "compare", "performance.md"), cancellationToken);
        Assert.That(Scenarios.Where(scenario => !page.Contains($"\n### {scenario}: ", StringComparison.Ordinal)), Is.Empty);
    }
}
