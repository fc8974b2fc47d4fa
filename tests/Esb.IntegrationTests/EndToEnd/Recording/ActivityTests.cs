namespace Esb.IntegrationTests.EndToEnd.Recording;

/// <summary>Activities without a server: one host, and files.</summary>
public sealed class FileActivityTests : ActivityContract
{
    private protected override string Sections => """ "transport": { "type": "memory" }, """;

    private protected override int Hosts => 1;
}

/// <summary>Activities over two hosts that share a database; facts are moved to it by each of them.</summary>
[Category("Thorough")]
public sealed class FarmActivityTests : ActivityContract
{
    private readonly string _name = $"test_{Guid.NewGuid():N}";

    private protected override string Sections =>
        $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_RABBITMQ}", "prefix": "{{_name}}" },
            "store": { "type": "postgres", "connection": "${env:ESB_POSTGRES}", "schema": "{{_name}}" },
            """;

    private protected override IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string> { ["ESB_RABBITMQ"] = Servers.RabbitMq, ["ESB_POSTGRES"] = Servers.Postgres };

    private protected override int Hosts => 2;
}
