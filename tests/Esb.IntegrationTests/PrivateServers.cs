using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Esb.IntegrationTests;

/// <summary>A RabbitMQ and a PostgreSQL of a fixture's own, to be stopped, killed and started again.</summary>
internal sealed partial class PrivateServers : IAsyncDisposable
{
    private static readonly string Script = Repository.PathOf("tests", "servers");

    private readonly string _folder;

    private PrivateServers(string folder, string rabbitMq, string postgres)
    {
        _folder = folder;
        RabbitMq = rabbitMq;
        Postgres = postgres;
    }

    public string RabbitMq { get; }

    public string Postgres { get; }

    public static async Task<PrivateServers> StartAsync() => Parse(await RunAsync("start"));

    /// <summary>Starts them with their data in a folder, which goes with them.</summary>
    public static async Task<PrivateServers> StartInAsync(string folder) => Parse(await RunAsync("start", folder));

    public Task StartAsync(string server) => RunAsync(server, "start", _folder);

    public Task StopAsync(string server) => RunAsync(server, "stop", _folder);

    public Task KillAsync(string server) => RunAsync(server, "kill", _folder);

    /// <summary>Runs <c>rabbitmqctl</c> against the private broker, and returns what it says.</summary>
    public Task<string> ControlRabbitMqAsync(params string[] arguments) => RunAsync(["rabbitmqctl", _folder, .. arguments]);

    /// <summary>Runs <c>rabbitmq-plugins</c> against the private broker.</summary>
    public Task ChangePluginsAsync(params string[] arguments) => RunAsync(["rabbitmq-plugins", _folder, .. arguments]);

    /// <summary>A free loopback port.</summary>
    public static async Task<int> FindPortAsync() => int.Parse(await RunAsync("ports", "1"));

    public async ValueTask DisposeAsync() => await RunAsync("stop", _folder);

    private static PrivateServers Parse(string output)
    {
        var variables = Export().Matches(output).ToDictionary(match => match.Groups["name"].Value, match => match.Groups["value"].Value);
        return new PrivateServers(variables["ESB_TEST_SERVERS"], variables["ESB_TEST_RABBITMQ"], variables["ESB_TEST_POSTGRES"]);
    }

    private static async Task<string> RunAsync(params string[] arguments)
    {
        // The output goes to files: the servers that the script leaves running would keep a pipe open.
        var output = Path.GetTempFileName();
        var start = new ProcessStartInfo("bash", ["-c", $"\"$0\" \"$@\" >{output} 2>&1 </dev/null", Script, .. arguments]);
        start.Environment.Remove("ESB_TEST_RABBITMQ");
        start.Environment.Remove("ESB_TEST_POSTGRES");
        start.Environment.Remove("ESB_TEST_SERVERS");
        using var process = Process.Start(start)!;
        await process.WaitForExitAsync();
        var text = await File.ReadAllTextAsync(output);
        File.Delete(output);
        Assert.That(process.ExitCode, Is.Zero, text);
        return text;
    }

    [GeneratedRegex(@"^export (?<name>\w+)=['""]?(?<value>[^'""\n]*)['""]?$", RegexOptions.Multiline)]
    private static partial Regex Export();
}
