using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Esb.Tests.Host.Composition;

/// <summary>Compiling opens and starts nothing, as the process sees it in which nothing else happens.</summary>
[Platform("Linux")]
public sealed class CompileTraceTests
{
    // The plug-ins of two of them are not built here.
    private static readonly string[] Samples =
    [
        .. Directory
            .GetDirectories(Folder())
            .Where(folder =>
                File.Exists(Path.Combine(folder, "esb.json")) && !Path.GetFileName(folder).StartsWith("plugin", StringComparison.Ordinal)
            )
            .Order(),
    ];

    [Test, CancelAfter(60_000)]
    public async Task No_thread_socket_timer_or_file_is_held_after_all_samples_were_compiled(CancellationToken cancellationToken)
    {
        var report = await TraceAsync(Samples, withCulprit: false, cancellationToken);

        Assert.That(Samples, Has.Length.GreaterThan(3));
        Assert.That(report, Is.EqualTo([$"{CompileTrace.Compiled} {Samples.Length}"]));
    }

    [Test, Category("Thorough"), CancelAfter(60_000)]
    public async Task Thread_socket_timer_and_work_of_a_rule_would_be_noticed(CancellationToken cancellationToken)
    {
        var report = await TraceAsync(Samples[..1], withCulprit: true, cancellationToken);

        Assert.That(
            report,
            Has.Some.Contains("handle socket:")
                .And.Some.Contains(": thread ")
                .And.Some.Contains(": timers 1")
                .And.Some.Contains("pool at work 1")
        );
    }

    private static async Task<string[]> TraceAsync(
        IEnumerable<string> configurations,
        bool withCulprit,
        CancellationToken cancellationToken
    )
    {
        var report = Path.GetTempFileName();
        try
        {
            var start = new ProcessStartInfo("dotnet", [Path.Combine(AppContext.BaseDirectory, "esb.dll"), "--version"])
            {
                RedirectStandardOutput = true,
                RedirectStandardError = true,
            };
            start.Environment["DOTNET_STARTUP_HOOKS"] = typeof(CompileTrace).Assembly.Location;
            start.Environment[CompileTrace.Report] = report;
            start.Environment[CompileTrace.Configurations] = string.Join(':', configurations);
            if (withCulprit)
                start.Environment[CompileTrace.WithCulprit] = "yes";
            using var process = Process.Start(start)!;
            var output = process.StandardOutput.ReadToEndAsync(cancellationToken);
            var error = await process.StandardError.ReadToEndAsync(cancellationToken);
            await process.WaitForExitAsync(cancellationToken);
            Assert.That(process.ExitCode, Is.Zero, $"{await output}{error}{await File.ReadAllTextAsync(report, cancellationToken)}");
            return await File.ReadAllLinesAsync(report, cancellationToken);
        }
        finally
        {
            File.Delete(report);
        }
    }

    private static string Folder([CallerFilePath] string here = "") =>
        Path.GetFullPath("../../../../samples", Path.GetDirectoryName(here)!);
}
