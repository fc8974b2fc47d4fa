using System.Diagnostics;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>Runs the command line in a process of its own.</summary>
internal static class CommandLine
{
    public static async Task<(int ExitCode, string Output, string Error)> RunAsync(
        string folder,
        CancellationToken cancellationToken,
        params string[] arguments
    ) => await RunAsync(folder, new Dictionary<string, string>(), cancellationToken, arguments);

    public static async Task<(int ExitCode, string Output, string Error)> RunAsync(
        string folder,
        IReadOnlyDictionary<string, string> variables,
        CancellationToken cancellationToken,
        params string[] arguments
    )
    {
        var start = StartOf(folder, arguments);
        foreach (var (name, value) in variables)
            start.Environment[name] = value;
        using var process = Process.Start(start)!;
        var output = process.StandardOutput.ReadToEndAsync(cancellationToken);
        var error = process.StandardError.ReadToEndAsync(cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        return (process.ExitCode, await output, await error);
    }

    /// <summary>Presses Ctrl-C behind the first line of the output.</summary>
    public static async Task<(int ExitCode, string Line, string Error)> InterruptAsync(
        string folder,
        CancellationToken cancellationToken,
        params string[] arguments
    )
    {
        using var process = Process.Start(StartOf(folder, arguments))!;
        var error = process.StandardError.ReadToEndAsync(cancellationToken);
        var line = await process.StandardOutput.ReadLineAsync(cancellationToken);
        using (var kill = Process.Start("kill", ["-INT", $"{process.Id}"]))
            await kill.WaitForExitAsync(cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        return (process.ExitCode, line ?? "", await error);
    }

    private static ProcessStartInfo StartOf(string folder, string[] arguments) =>
        new("dotnet", [Repository.Host, .. arguments])
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
}
