using System.Diagnostics;
using Esb.Tests.Host.Management;
using NUnit.Framework;

namespace Esb.Tests.Host.Commands;

/// <summary>The program as its users start it: a process, with exit codes and pipes.</summary>
[CancelAfter(60_000)]
public sealed class ProgramTests
{
    [Test, Property("Case", "CLI-01")]
    public async Task Usage_error_exits_2_and_writes_to_standard_error_only(CancellationToken cancellationToken)
    {
        using var program = Start("vaildate");

        var output = await program.StandardOutput.ReadToEndAsync(cancellationToken);
        var error = await program.StandardError.ReadToEndAsync(cancellationToken);
        await program.WaitForExitAsync(cancellationToken);

        Assert.That(program.ExitCode, Is.EqualTo(2));
        Assert.That(output, Is.Empty);
        Assert.That(error, Does.Contain("did you mean \"validate\"?"));
    }

    [Test, Property("Case", "CLI-09")]
    public async Task Output_closed_early_ends_quietly(CancellationToken cancellationToken)
    {
        using var program = Start("schema");

        program.StandardOutput.Close();
        var error = await program.StandardError.ReadToEndAsync(cancellationToken);
        await program.WaitForExitAsync(cancellationToken);

        Assert.That(program.ExitCode, Is.Zero);
        Assert.That(error, Is.Empty);
    }

    [Test, Property("Case", "CLI-12")]
    public async Task Locale_of_the_machine_changes_nothing(CancellationToken cancellationToken)
    {
        using var german = Start("schema", ("LANG", "de_DE.ISO-8859-1"), ("LC_ALL", "de_DE.ISO-8859-1"));
        using var plain = Start("schema", ("LANG", "C.UTF-8"));

        var outputs = await Task.WhenAll(
            german.StandardOutput.ReadToEndAsync(cancellationToken),
            plain.StandardOutput.ReadToEndAsync(cancellationToken)
        );

        Assert.That(outputs[0], Is.EqualTo(outputs[1]));
    }

    [TestCase("TERM", 0), TestCase("QUIT", 128 + 3, Category = "Thorough")] // the second asks for no stop: it ends a process
    public async Task Signal_ends_the_orders_sample(string signal, int exitCode, CancellationToken cancellationToken)
    {
        if (OperatingSystem.IsWindows())
            Assert.Ignore("There are no signals here.");
        var folder = Directory.CreateTempSubdirectory("esb-"); // without samples in it: those beside the program are found
        var management = $"http://127.0.0.1:{FreePorts.Next()}";
        using var program = Start(
            "run",
            folder.FullName,
            ("ESB__LISTENERS__PUBLIC__URL", $"http://127.0.0.1:{FreePorts.Next()}"),
            ("ESB__MANAGEMENT__URL", management)
        );
        try
        {
            var lines = new List<string>();
            while (lines.Count == 0 || !lines[^1].Contains("orders is running", StringComparison.Ordinal))
                lines.Add(
                    await program.StandardOutput.ReadLineAsync(cancellationToken) ?? throw new AssertionException(string.Join('\n', lines))
                );
            using var client = new HttpClient();
            Assert.That((await client.GetAsync($"{management}/health/ready", cancellationToken)).IsSuccessStatusCode, Is.True);

            using var kill = Process.Start("kill", [$"-{signal}", $"{program.Id}"]);
            var rest = await program.StandardOutput.ReadToEndAsync(cancellationToken);
            await program.WaitForExitAsync(cancellationToken);

            Assert.That(program.ExitCode, Is.EqualTo(exitCode), rest);
            Assert.That(rest.Contains("stopped: what was under way is finished", StringComparison.Ordinal), Is.EqualTo(exitCode == 0));
            Assert.That(File.Exists(Path.Combine(folder.FullName, "esb-data", "management.key")), Is.True);
        }
        finally
        {
            if (!program.HasExited)
                program.Kill();
            folder.Delete(recursive: true);
        }
    }

    private static Process Start(string arguments, params (string Name, string Value)[] variables) =>
        Start(arguments, Environment.CurrentDirectory, variables);

    private static Process Start(string arguments, string folder, params (string Name, string Value)[] variables)
    {
        var start = new ProcessStartInfo("dotnet", $"\"{Path.Combine(AppContext.BaseDirectory, "esb.dll")}\" {arguments}")
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (var (name, value) in variables)
            start.Environment[name] = value;
        return Process.Start(start)!;
    }
}
