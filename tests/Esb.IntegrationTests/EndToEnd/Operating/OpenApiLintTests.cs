using System.Diagnostics;
using System.Globalization;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>The description of the management API, as a tool of others reads it.</summary>
[Category("Thorough")]
public sealed class OpenApiLintTests
{
    private const string Tool = "@redocly/cli@2.77.0";

    [Test, CancelAfter(300_000)]
    public async Task Description_is_valid_for_redocly(CancellationToken cancellationToken)
    {
        if (await NodeAsync(cancellationToken) < 20)
            Assert.Ignore("Node 20 or later is not installed; @redocly/cli needs it.");
        var folder = Directory.CreateTempSubdirectory("esb-openapi-");
        try
        {
            await File.WriteAllTextAsync(Path.Combine(folder.FullName, "esb.json"), """{ "name": "plain" }""", cancellationToken);
            await using var host = await RunningHost.StartAsync("esb.json", folder.FullName, cancellationToken);
            var file = Path.Combine(folder.FullName, "openapi.json");
            await File.WriteAllTextAsync(file, await host.ReadAsync("/api/openapi.json", cancellationToken), cancellationToken);

            var (exitCode, output) = await RunAsync("npx", ["--yes", Tool, "lint", "--extends=spec", file], cancellationToken);

            if (output.Contains("npm error", StringComparison.Ordinal))
                Assert.Ignore($"{Tool} cannot be installed here: {output}");
            Assert.That(exitCode, Is.Zero, output);
            Assert.That(output, Does.Contain("Your API description is valid"));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    /// <summary>The major version of Node; 0 if it is not installed.</summary>
    private static async Task<int> NodeAsync(CancellationToken cancellationToken)
    {
        try
        {
            var (_, output) = await RunAsync("node", ["--version"], cancellationToken);
            return int.Parse(output.Trim().TrimStart('v').Split('.')[0], CultureInfo.InvariantCulture);
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return 0;
        }
    }

    private static async Task<(int ExitCode, string Output)> RunAsync(
        string program,
        IReadOnlyList<string> arguments,
        CancellationToken cancellationToken
    )
    {
        var start = new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true, RedirectStandardError = true };
        using var process = Process.Start(start)!;
        var (output, error) = (
            process.StandardOutput.ReadToEndAsync(cancellationToken),
            process.StandardError.ReadToEndAsync(cancellationToken)
        );
        await process.WaitForExitAsync(cancellationToken);
        return (process.ExitCode, await output + await error);
    }
}
