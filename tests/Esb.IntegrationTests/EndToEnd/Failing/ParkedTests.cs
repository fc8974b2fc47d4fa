using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>Parked messages on the embedded default.</summary>
[Category("Thorough")]
public sealed class EmbeddedParkedTests : ParkedContract
{
    private protected override string Sections => "";
}

/// <summary>Parked messages on RabbitMQ and PostgreSQL.</summary>
public sealed class ServerParkedTests : ParkedContract
{
    private ServerSections _servers = null!;

    private protected override string Sections => _servers.Next();

    private protected override IReadOnlyDictionary<string, string> Variables => _servers.Variables;

    [OneTimeSetUp]
    public async Task StartServers() => _servers = await ServerSections.ShareAsync();

    [OneTimeTearDown]
    public async Task StopServers() => await _servers.DisposeAsync();
}
