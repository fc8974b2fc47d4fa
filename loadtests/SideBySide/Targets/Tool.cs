using System.ComponentModel;
using System.Diagnostics;

namespace SideBySide.Targets;

/// <summary>Runs a program to its end, which it must reach in time.</summary>
internal static class Tool
{
    /// <returns>What it printed.</returns>
    /// <exception cref="NotRunException">It is missing, failed, or did not end in time.</exception>
    public static async Task<string> RunAsync(
        IReadOnlyList<string> command,
        IEnumerable<KeyValuePair<string, string>> variables,
        TimeSpan deadline,
        CancellationToken cancellationToken
    )
    {
        var start = new ProcessStartInfo(command[0], command.Skip(1)) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var (key, value) in variables)
            start.Environment[key] = value;
        using var process = Start(start);
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(deadline);
        try
        {
            var (output, errors) = (process.StandardOutput.ReadToEndAsync(limit.Token), process.StandardError.ReadToEndAsync(limit.Token));
            await process.WaitForExitAsync(limit.Token);
            return process.ExitCode == 0
                ? await output + await errors
                : throw new NotRunException(
                    $"{command[0]} ended with exit code {process.ExitCode}: {(await errors + await output).Trim()}"
                );
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new NotRunException($"{command[0]} did not end within {deadline.TotalSeconds:0} s");
        }
        finally
        {
            if (!process.HasExited)
                process.Kill(entireProcessTree: true);
        }
    }

    private static Process Start(ProcessStartInfo start)
    {
        try
        {
            return Process.Start(start)!;
        }
        catch (Win32Exception missing)
        {
            throw new NotRunException($"{start.FileName} is not installed", missing);
        }
    }
}
