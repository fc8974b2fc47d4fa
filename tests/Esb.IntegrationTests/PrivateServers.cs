using System.Globalization;

namespace Esb.IntegrationTests;

/// <summary>A RabbitMQ and a PostgreSQL of a fixture's own, to be stopped, killed and started again.</summary>
internal sealed class PrivateServers : IAsyncDisposable
{
    private readonly string _folder;
    private readonly Func<string[], Task<string>> _control;

    private PrivateServers(string folder, string rabbitMq, string postgres, Func<string[], Task<string>>? control = null)
    {
        _folder = folder;
        _control = control ?? (arguments => RunAsync(["rabbitmqctl", folder, .. arguments]));
        RabbitMq = rabbitMq;
        Postgres = postgres;
    }

    public string RabbitMq { get; }

    public string Postgres { get; }

    public static async Task<PrivateServers> StartAsync() => Parse(await RunAsync("start"));

    /// <summary>Starts them with a PostgreSQL whose clock can be set.</summary>
    public static async Task<PrivateServers> StartWithClockAsync() =>
        Parse(await ServerScript.RunAsync("servers", new Dictionary<string, string> { ["ESB_TEST_CLOCK"] = "on" }, "start"));

    /// <summary>Starts them with their data in a folder, which goes with them.</summary>
    public static async Task<PrivateServers> StartInAsync(string folder) => Parse(await RunAsync("start", folder));

    /// <summary>Starts only a PostgreSQL, beside brokers that are not to be disposed with it.</summary>
    /// <param name="rabbitMq">The brokers' address.</param>
    /// <param name="control">Runs <c>rabbitmqctl</c> against them.</param>
    public static async Task<PrivateServers> StartBesideAsync(string rabbitMq, Func<string[], Task<string>> control)
    {
        var given = new Dictionary<string, string> { ["ESB_TEST_RABBITMQ"] = rabbitMq };
        var variables = ServerScript.ReadExports(await ServerScript.RunAsync("servers", given, "start"));
        return new PrivateServers(variables["ESB_TEST_SERVERS"], rabbitMq, variables["ESB_TEST_POSTGRES"], control);
    }

    public Task StartAsync(string server) => RunAsync(server, "start", _folder);

    public Task StopAsync(string server) => RunAsync(server, "stop", _folder);

    public Task KillAsync(string server) => RunAsync(server, "kill", _folder);

    /// <summary>Runs <c>rabbitmqctl</c> against the private broker, and returns what it says.</summary>
    public Task<string> ControlRabbitMqAsync(params string[] arguments) => _control(arguments);

    /// <summary>Runs <c>rabbitmq-plugins</c> against the private broker.</summary>
    public Task ChangePluginsAsync(params string[] arguments) => RunAsync(["rabbitmq-plugins", _folder, .. arguments]);

    /// <summary>A free loopback port.</summary>
    public static async Task<int> FindPortAsync() => int.Parse(await RunAsync("ports", "1"));

    /// <summary>Sets the clock of PostgreSQL ahead of that of the machine, or back behind it.</summary>
    public async Task SetClockAsync(TimeSpan ahead)
    {
        var (clock, next) = (Path.Combine(_folder, "clock"), Path.Combine(_folder, "clock.next"));
        await File.WriteAllTextAsync(next, ahead.TotalSeconds.ToString("+0;-0", CultureInfo.InvariantCulture));
        File.Move(next, clock, overwrite: true); // it is read all the time
    }

    public async ValueTask DisposeAsync() => await RunAsync("stop", _folder);

    private static PrivateServers Parse(string output)
    {
        var variables = ServerScript.ReadExports(output);
        return new PrivateServers(variables["ESB_TEST_SERVERS"], variables["ESB_TEST_RABBITMQ"], variables["ESB_TEST_POSTGRES"]);
    }

    private static Task<string> RunAsync(params string[] arguments) =>
        ServerScript.RunAsync("servers", new Dictionary<string, string>(), arguments);
}
