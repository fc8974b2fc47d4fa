using System.Globalization;
using Esb.IntegrationTests.Faults.Results;

namespace Esb.IntegrationTests.Faults.Workflows;

/// <summary>The table of <c>docs/results/workflows.md</c>, one line for each case; written anew by each run. Thread-safe.</summary>
internal static class WorkflowResults
{
    private static readonly Lock Writing = new();
    private static bool _begun;

    private static string File =>
        Environment.GetEnvironmentVariable("ESB_FAULTS_RESULTS") is { Length: > 0 } file
            ? file
            : Repository.PathOf(".test", "workflows.md");

    public static string Add(string name, string size, string result, TimeSpan took)
    {
        var row = string.Create(CultureInfo.InvariantCulture, $"| {name} | {size} | {result} | {took.TotalSeconds:0} s |");
        lock (Writing)
        {
            if (!_begun)
                Begin();
            System.IO.File.AppendAllText(File, row + "\n");
        }

        return row;
    }

    private static void Begin()
    {
        _begun = true;
        Directory.CreateDirectory(Path.GetDirectoryName(Path.GetFullPath(File))!);
        System.IO.File.WriteAllText(
            File,
            string.Create(
                CultureInfo.InvariantCulture,
                $"""
                Run of {TimeProvider.System.GetUtcNow():yyyy-MM-dd HH:mm} UTC on {Machine.Describe()}.

                | case | size | result | took |
                | --- | --- | --- | ---: |

                """
            )
        );
    }
}
