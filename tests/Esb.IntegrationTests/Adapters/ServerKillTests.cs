namespace Esb.IntegrationTests.Adapters;

/// <summary>The server of a system is killed while its adapter works, stays away until that is told, and is started again.</summary>
/// <typeparam name="TSystem">The adapter and its system.</typeparam>
[TestFixture(typeof(SftpInboundSystem))]
[TestFixture(typeof(SftpOutboundSystem))]
[TestFixture(typeof(SqlInboundSystem))]
[TestFixture(typeof(SqlOutboundSystem))]
[TestFixture(typeof(MassTransitInboundSystem))]
[TestFixture(typeof(MassTransitOutboundSystem))]
[TestFixture(typeof(AmqpInboundSystem))]
[TestFixture(typeof(AmqpOutboundSystem))]
[TestFixture(typeof(HttpOutboundSystem))]
[TestFixture(typeof(SoapOutboundSystem))]
[TestFixture(typeof(MailOutboundSystem))]
[Category("Thorough"), CancelAfter(300_000)]
internal sealed class ServerKillTests<TSystem> : AdapterFixture<TSystem>
    where TSystem : AdapterSystem, new()
{
    private protected override bool KillsServer => true;

    [Test]
    public async Task Nothing_is_lost_when_the_server_is_killed_at_work(CancellationToken cancellationToken)
    {
        const int each = 30;
        int[] kills = [1, 8, 15]; // so many items of each round have arrived
        await System.Proxy.DelayAsync(TimeSpan.FromMilliseconds(5), TimeSpan.Zero); // so that the kill meets it at work
        await Host.ConfigureAsync();
        await Host.StartAsync(cancellationToken);

        for (var round = 0; round < kills.Length; round++)
        {
            await Host.PauseAsync(true, cancellationToken);
            for (var item = 0; item < each; item++)
                await Host.PutAsync((round * each) + item, cancellationToken);
            await Host.PauseAsync(false, cancellationToken);
            await Host.WaitForArrivalsAsync((round * each) + kills[round], cancellationToken);
            await System.KillAsync();
            await Host.WaitForTroubleAsync(cancellationToken);
            await System.StartAgainAsync();
            await Host.WaitForArrivalsAsync((round + 1) * each, cancellationToken);
        }

        await Host.AssertNoneLostAsync(kills.Length * each, cancellationToken);
    }
}
