namespace Esb.IntegrationTests.WebConsole;

/// <summary>What the host of a console stands on: nothing, or RabbitMQ and PostgreSQL.</summary>
internal sealed class ConsoleServers(bool areReal)
{
    private readonly string _prefix = $"esb-console-{Guid.NewGuid().ToString("N")[..8]}";

    /// <summary>The sections <c>transport</c> and <c>store</c> with a comma behind them; empty for the embedded default.</summary>
    public string Sections =>
        areReal
            ? $$"""
                "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_prefix}}" },
                "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_prefix.Replace('-', '_')}}" },
                """
            : "";

    public IReadOnlyDictionary<string, string> Variables { get; } =
        areReal
            ? new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq, ["ESB_POSTGRES"] = Servers.Postgres }
            : new Dictionary<string, string>();
}
