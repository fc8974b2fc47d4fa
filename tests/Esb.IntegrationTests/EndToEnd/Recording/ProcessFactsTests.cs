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

    private protected override async Task StartServersAsync() => _servers = await ServerSections.StartAsync();

    private protected override async Task StopServersAsync() => await _servers.DisposeAsync();

    [Test, Order(2), Property("Case", "T-AUD-1")]
    public async Task Nothing_is_relayed_of_which_it_cannot_be_recorded_that_it_came(CancellationToken cancellationToken)
    {
        var before = Rates.LastBody;
        await _servers.StopPostgresAsync();
        try
        {
            using var refused = await Host.PostAsync("/relayed", "{}", "application/json", cancellationToken);

            Assert.That((refused.StatusCode, Rates.LastBody), Is.EqualTo((HttpStatusCode.ServiceUnavailable, before)), Host.Output);
            Assert.That(await refused.Content.ReadAsStringAsync(cancellationToken), Does.Contain("ESB-AUD-WRITE"));
        }
        finally
        {
            await _servers.StartPostgresAsync();
        }

        await Host.WaitAsync(IsRelayedAsync, TimeSpan.FromSeconds(30), "to relay again", cancellationToken);
        Assert.That(before, Is.Not.EqualTo("{}"));
        Assert.That(Rates.LastBody, Is.EqualTo("{}"));
    }

    private async Task<bool> IsRelayedAsync(CancellationToken cancellationToken)
    {
        using var answer = await Host.PostAsync("/relayed", "{}", "application/json", cancellationToken);
        return answer.IsSuccessStatusCode;
    }
}
