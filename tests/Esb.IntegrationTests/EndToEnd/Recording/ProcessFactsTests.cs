using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Recording;

/// <summary>On the embedded default.</summary>
[Category("Thorough")]
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

    [Test, Property("Case", "T-AUD-1")]
    public async Task Nothing_is_relayed_of_which_it_cannot_be_recorded_that_it_came(CancellationToken cancellationToken)
    {
        await _servers.StopAsync("postgres");
        try
        {
            using var refused = await Host.PostAsync("/relayed", "{}", "application/json", cancellationToken);

            Assert.That(
                (refused.StatusCode, Rates.LastBody),
                Is.EqualTo((HttpStatusCode.ServiceUnavailable, default(string))),
                Host.Output
            );
            Assert.That(await refused.Content.ReadAsStringAsync(cancellationToken), Does.Contain("ESB-AUD-WRITE"));
        }
        finally
        {
            await _servers.StartAsync("postgres");
        }

        await Host.WaitAsync(IsRelayedAsync, TimeSpan.FromSeconds(30), "to relay again", cancellationToken);
        Assert.That(Rates.LastBody, Is.EqualTo("{}"));
    }

    private async Task<bool> IsRelayedAsync(CancellationToken cancellationToken)
    {
        using var answer = await Host.PostAsync("/relayed", "{}", "application/json", cancellationToken);
        return answer.IsSuccessStatusCode;
    }
}
