using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>RabbitMQ and PostgreSQL, and what a configuration says to use them under names of its own.</summary>
internal sealed class ServerSections : IAsyncDisposable
{
    private readonly string _name = $"esb{Guid.NewGuid():N}"[..13];
    private readonly PrivateServers? _own;
    private int _number;

    private ServerSections(PrivateServers own) => (_own, Postgres) = (own, own.Postgres);

    private ServerSections() => Postgres = $"{Servers.Postgres};Search Path={_name}";

    public string Postgres { get; }

    /// <summary>The prefix and the schema of the sections that were made last.</summary>
    public string Name => $"{_name}_{_number}";

    public IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq, ["ESB_POSTGRES"] = Postgres };

    /// <summary>Starts a PostgreSQL of a fixture's own, to be stopped and started again, beside the RabbitMQ that all tests use.</summary>
    public static async Task<ServerSections> StartAsync() =>
        new(
            await PrivateServers.StartBesideAsync(
                Servers.RabbitMq,
                _ => throw new NotSupportedException("The broker is that of all tests.")
            )
        );

    /// <summary>The servers that all tests use; tables of a test lie in a schema of its own.</summary>
    public static async Task<ServerSections> ShareAsync()
    {
        var sections = new ServerSections();
        await sections.ExecuteAsync($"create schema {sections._name}");
        return sections;
    }

    /// <summary>The sections of the next test.</summary>
    public string Next()
    {
        _number++;
        return $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{Name}}" },
            "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{Name}}" },
            """;
    }

    /// <summary>The same with a store that needs no server.</summary>
    public string NextWithFiles(string claims)
    {
        _number++;
        return $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{Name}}" },
            "store": { "type": "file", "claims": "{{claims}}" },
            """;
    }

    /// <summary>Stops the PostgreSQL of its own, its data kept.</summary>
    public Task StopPostgresAsync() => _own!.StopAsync("postgres");

    /// <summary>Starts it again.</summary>
    public Task StartPostgresAsync() => _own!.StartAsync("postgres");

    public async ValueTask DisposeAsync()
    {
        if (_own is not null)
        {
            await _own.DisposeAsync();
            return;
        }

        await ExecuteAsync($"drop schema {_name} cascade");
        for (; _number > 0; _number--)
            await ExecuteAsync($"drop schema if exists {Name} cascade");
    }

    private async Task ExecuteAsync(string sql)
    {
        await using var database = NpgsqlDataSource.Create(Postgres);
        await using var command = database.CreateCommand(sql);
        await command.ExecuteNonQueryAsync();
    }
}
