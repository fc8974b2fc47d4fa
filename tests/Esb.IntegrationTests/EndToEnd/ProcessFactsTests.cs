namespace Esb.IntegrationTests.EndToEnd;

/// <summary>On the embedded default.</summary>
public sealed class EmbeddedProcessFactsTests : ProcessFactsContract
{
    private protected override string Mode => "spooled";
}

/// <summary>On RabbitMQ and PostgreSQL, where a fact counts once it is committed.</summary>
public sealed class ServerProcessFactsTests : ProcessFactsContract
{
    private ServerSections _servers = null!;

    private protected override string Mode => "strict";

    private protected override string Sections => _servers.Next();

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.StartAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();
}
