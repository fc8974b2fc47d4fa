using SideBySide.Targets;

namespace SideBySide.Servers;

/// <summary>RabbitMQ and PostgreSQL: those that <c>ESB_TEST_RABBITMQ</c> and <c>ESB_TEST_POSTGRES</c> name, otherwise private ones, started
/// when first asked for.</summary>
/// <remarks><c>loadtests/compare</c> stops the private ones, even when this program was killed.</remarks>
internal sealed class TestServers(Surroundings surroundings)
{
    private static readonly TimeSpan StartDeadline = TimeSpan.FromSeconds(150);

    private Task<(string Broker, string Database)>? _started;

    /// <summary>An amqp URL and a connection string of Npgsql.</summary>
    /// <exception cref="NotRunException">They do not start.</exception>
    public Task<(string Broker, string Database)> StartAsync(CancellationToken cancellationToken) =>
        _started ??= FindOrStartAsync(cancellationToken);

    private async Task<(string Broker, string Database)> FindOrStartAsync(CancellationToken cancellationToken)
    {
        var output = await Tool.RunAsync(
            [surroundings.Find("tests/servers"), "start", Path.Combine(surroundings.Temporary, "servers")],
            [],
            StartDeadline,
            cancellationToken
        );
        return (Value(output, "ESB_TEST_RABBITMQ"), Value(output, "ESB_TEST_POSTGRES"));
    }

    // It prints what a shell is to export, and only what was not given.
    private static string Value(string output, string name) =>
        output.Split('\n').FirstOrDefault(line => line.StartsWith($"export {name}=", StringComparison.Ordinal)) is { } line
            ? line[(line.IndexOf('=') + 1)..].Trim('\'')
            : Environment.GetEnvironmentVariable(name) ?? throw new NotRunException($"tests/servers did not name {name}");
}
