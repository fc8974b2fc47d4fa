using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Esb.IntegrationTests.Storage;

/// <summary>A PostgreSQL of a test's own, to be stopped and started.</summary>
internal sealed partial class PrivatePostgres : IAsyncDisposable
{
    private readonly string _folder;

    private PrivatePostgres(string folder, string connection)
    {
        _folder = folder;
        Connection = connection;
    }

    public string Connection { get; }

    public static async Task<PrivatePostgres> StartAsync()
    {
        var told = await RunAsync("start");
        return new PrivatePostgres(Value("ESB_TEST_SERVERS"), Value("ESB_TEST_POSTGRES"));

        string Value(string name) => Export().Matches(told).Single(match => match.Groups["name"].Value == name).Groups["value"].Value;
    }

    public Task StopAsync() => RunAsync("postgres", "stop", _folder);

    /// <summary>As a crash does.</summary>
    public Task KillAsync() => RunAsync("postgres", "kill", _folder);

    public Task StartAgainAsync() => RunAsync("postgres", "start", _folder);

    /// <summary>Stops and starts it; of its files nothing is left in memory.</summary>
    public async Task RestartColdAsync()
    {
        await StopAsync();
        using (
            var forgetting = Process.Start(
                "find",
                [_folder, "-type", "f", "-size", "+0", "-exec", "dd", "if={}", "iflag=nocache", "count=0", "status=none", ";"]
            )
        )
            await forgetting.WaitForExitAsync();
        await StartAgainAsync();
    }

    public async ValueTask DisposeAsync() => await RunAsync("stop", _folder);

    private static async Task<string> RunAsync(params string[] arguments)
    {
        var start = new ProcessStartInfo(Script(), arguments) { RedirectStandardOutput = true, RedirectStandardError = true };
        start.Environment["ESB_TEST_RABBITMQ"] = "not needed"; // what is named already is not started
        start.Environment.Remove("ESB_TEST_POSTGRES");
        using var process = Process.Start(start)!;
        var error = process.StandardError.ReadToEndAsync();
        var output = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        return process.ExitCode == 0
            ? output
            : throw new InvalidOperationException($"tests/servers {string.Join(' ', arguments)} failed: {await error}");
    }

    private static string Script()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            var script = Path.Combine(folder.FullName, "tests", "servers");
            if (File.Exists(script))
                return script;
        }

        throw new InvalidOperationException("tests/servers is not above the test's folder.");
    }

    [GeneratedRegex("export (?<name>[A-Z_]+)='(?<value>[^']*)'")]
    private static partial Regex Export();
}
