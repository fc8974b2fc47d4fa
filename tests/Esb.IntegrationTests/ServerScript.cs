using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Esb.IntegrationTests;

/// <summary>Runs a script that starts servers, or does something to them.</summary>
internal static partial class ServerScript
{
    private static readonly string[] Given = ["ESB_TEST_RABBITMQ", "ESB_TEST_POSTGRES", "ESB_TEST_SERVERS"];

    /// <summary>Returns what it says; fails with it where the script fails.</summary>
    /// <param name="script">In the folder of the tests.</param>
    /// <param name="variables">What it is to know of other servers; those that the tests were given are no concern of it.</param>
    /// <param name="arguments">Its command.</param>
    public static async Task<string> RunAsync(string script, IReadOnlyDictionary<string, string> variables, params string[] arguments)
    {
        // The output goes to files: the servers that the script leaves running would keep a pipe open.
        var output = Path.GetTempFileName();
        var start = new ProcessStartInfo(
            "bash",
            ["-c", $"\"$0\" \"$@\" >{output} 2>&1 </dev/null", Repository.PathOf("tests", script), .. arguments]
        );
        foreach (var variable in Given)
            start.Environment.Remove(variable);
        foreach (var (name, value) in variables)
            start.Environment[name] = value;
        using var process = Process.Start(start)!;
        await process.WaitForExitAsync();
        var text = await File.ReadAllTextAsync(output);
        File.Delete(output);
        Assert.That(process.ExitCode, Is.Zero, text);
        return text;
    }

    /// <summary>The variables that a script says to export.</summary>
    public static IReadOnlyDictionary<string, string> ReadExports(string output) =>
        Export().Matches(output).ToDictionary(match => match.Groups["name"].Value, match => match.Groups["value"].Value);

    [GeneratedRegex(@"^export (?<name>\w+)=['""]?(?<value>[^'""\n]*)['""]?$", RegexOptions.Multiline)]
    private static partial Regex Export();
}
