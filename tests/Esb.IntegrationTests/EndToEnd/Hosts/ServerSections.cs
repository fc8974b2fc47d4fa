namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>RabbitMQ and PostgreSQL of a fixture's own, and what a configuration says to use them under names of its own.</summary>
internal sealed class ServerSections : IAsyncDisposable
{
    private readonly PrivateServers _servers;
    private int _number;

    private ServerSections(PrivateServers servers) => _servers = servers;

    public string Postgres => _servers.Postgres;

    public IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string> { ["ESB_RABBITMQ"] = _servers.RabbitMq, ["ESB_POSTGRES"] = _servers.Postgres };

    public static async Task<ServerSections> StartAsync() => new(await PrivateServers.StartAsync());

    /// <summary>The sections of the next test.</summary>
    public string Next() =>
        $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "esb{{++_number}}" },
            "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "esb{{_number}}" },
            """;

    /// <summary>The same with a store that needs no server.</summary>
    public string NextWithFiles(string claims) =>
        $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "esb{{++_number}}" },
            "store": { "type": "file", "claims": "{{claims}}" },
            """;

    /// <summary>Stops one of them, its data kept.</summary>
    public Task StopAsync(string server) => _servers.StopAsync(server);

    /// <summary>Starts it again.</summary>
    public Task StartAsync(string server) => _servers.StartAsync(server);

    public ValueTask DisposeAsync() => _servers.DisposeAsync();
}
