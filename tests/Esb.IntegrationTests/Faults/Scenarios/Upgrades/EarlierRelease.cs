using System.Diagnostics;
using Dapper;
using Esb.IntegrationTests.Faults.Benches;

namespace Esb.IntegrationTests.Faults.Scenarios.Upgrades;

/// <summary>The host of the release before, built from the history of the repository by <c>tests/earlier-release</c>.</summary>
internal sealed class EarlierRelease
{
    private const int NoHistory = 77;

    private static readonly Lazy<Task<(int ExitCode, string Output, string Error)>> Built = new(BuildAsync);

    private EarlierRelease(string program) => Program = program;

    /// <summary>What <c>dotnet</c> runs.</summary>
    public string Program { get; }

    /// <summary>Builds it at the first call. Ignores the test, with the reason, where the repository has no history.</summary>
    public static async Task<EarlierRelease> GetAsync()
    {
        var (exitCode, output, error) = await Built.Value;
        if (exitCode == NoHistory)
            Assert.Ignore(error.Trim());
        Assert.That(exitCode, Is.Zero, error);
        return new EarlierRelease(output.Trim());
    }

    /// <summary>The number of the last migration of the store. A release refuses a store with a later one than its own.</summary>
    public static async Task<int> ReadStoreVersionAsync(FaultBench bench)
    {
        await using var connection = await bench.Database.OpenConnectionAsync();
        return await connection.ExecuteScalarAsync<int>("select max(number) from esb.schema_version");
    }

    private static async Task<(int ExitCode, string Output, string Error)> BuildAsync()
    {
        var start = new ProcessStartInfo(Repository.PathOf("tests", "earlier-release"))
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using var process = Process.Start(start)!;
        var (output, error) = (process.StandardOutput.ReadToEndAsync(), process.StandardError.ReadToEndAsync());
        await process.WaitForExitAsync();
        return (process.ExitCode, await output, await error);
    }
}
