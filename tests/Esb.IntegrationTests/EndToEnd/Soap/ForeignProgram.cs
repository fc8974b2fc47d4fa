using System.Diagnostics;

namespace Esb.IntegrationTests.EndToEnd.Soap;

/// <summary>Programs in other languages, with libraries of Debian.</summary>
internal static class ForeignProgram
{
    /// <summary>Runs a script, and returns the lines that it writes.</summary>
    public static async Task<string[]> RunAsync(
        string interpreter,
        string folder,
        string name,
        string script,
        CancellationToken cancellationToken
    )
    {
        var file = Path.Combine(folder, name);
        await File.WriteAllTextAsync(file, script, cancellationToken);
        using var process = Start(interpreter, [file], folder);
        var (output, errors) = (
            process.StandardOutput.ReadToEndAsync(cancellationToken),
            process.StandardError.ReadToEndAsync(cancellationToken)
        );
        await process.WaitForExitAsync(cancellationToken);
        var (written, problems) = (await output, await errors);
        Assert.That(
            process.ExitCode,
            Is.Zero,
            $"{problems}\n{written}\nMissing libraries: apt-get install python3-zeep php-cli php-soap libsoap-lite-perl gsoap libgsoap-dev gcc"
        );
        return written.Split('\n', StringSplitOptions.RemoveEmptyEntries);
    }

    /// <summary>Starts a program; its caller ends it.</summary>
    public static Process Start(string program, IEnumerable<string> arguments, string folder)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        try
        {
            return Process.Start(start)!;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            throw new AssertionException(
                $"{program} is missing: apt-get install python3-zeep php-cli php-soap libsoap-lite-perl gsoap libgsoap-dev gcc"
            );
        }
    }
}
