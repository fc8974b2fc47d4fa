using Npgsql;

namespace SideBySide.Servers;

/// <summary>Apache Camel with the same scenarios, from the folder of the peers.</summary>
internal sealed class CamelServer : IAsyncDisposable
{
    /// <summary>In the folder of the peers.</summary>
    public const string Jar = "bin/camel-esb.jar";

    public const string Settings = "Camel 4.14 on netty-http, Java with its own defaults (G1), no audit, nothing durable";

    private readonly ServerProcess _process;

    private CamelServer(ServerProcess process, string url) => (_process, Url) = (process, url);

    public string Url { get; }

    public TimeSpan ProcessorTime => _process.ProcessorTime;

    /// <param name="servers">It starts only where it finds a broker and a database, whatever is asked of it.</param>
    /// <param name="database">With the tables that it reads; null where no scenario needs them.</param>
    /// <param name="variables">Where its back end is, how large its pools are.</param>
    /// <exception cref="NotRunException">It was not found, or does not start.</exception>
    public static async Task<CamelServer> StartAsync(
        Surroundings surroundings,
        TestServers servers,
        string? database,
        IEnumerable<KeyValuePair<string, string>> variables,
        CancellationToken cancellationToken
    )
    {
        var jar = surroundings.Peer(Jar) ?? throw new NotRunException($"not found: ESB_PEERS names no folder with {Jar}");
        var (broker, server) = await servers.StartAsync(cancellationToken);
        var (rabbit, postgres, port) = (new Uri(broker), new NpgsqlConnectionStringBuilder(database ?? server), FreePorts.Next());
        var process = await ServerProcess.StartAsync(
            "Camel",
            surroundings.Folder("camel"),
            ["java", "-jar", jar],
            [
                new("HTTP_STACK", "netty-http"),
                new("PORT", $"{port}"),
                new("RABBIT_HOST", rabbit.Host),
                new("RABBIT_PORT", $"{rabbit.Port}"),
                new("PG_URL", $"jdbc:postgresql://{postgres.Host}:{postgres.Port}/{postgres.Database}"),
                new("PG_USER", postgres.Username ?? ""),
                new("PG_PASSWORD", postgres.Password ?? ""),
                .. variables,
            ],
            token => Http.ListensAsync(port, token),
            cancellationToken
        );
        return new CamelServer(process, $"http://127.0.0.1:{port}");
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
