namespace Esb.IntegrationTests.Adapters;

/// <summary>A started system with a host beside it.</summary>
/// <typeparam name="TSystem">The adapter and its system.</typeparam>
internal abstract class AdapterFixture<TSystem>
    where TSystem : AdapterSystem, new()
{
    private protected TSystem System { get; private set; } = null!;

    private protected AdapterHost Host { get; private set; } = null!;

    /// <summary>True if the server of the system is to be killed.</summary>
    private protected virtual bool KillsServer => false;

    [SetUp]
    public async Task StartSystem()
    {
        System = new TSystem { IsToBeKilled = KillsServer };
        await System.StartAsync();
        Host = new AdapterHost(System);
    }

    [TearDown]
    public async Task StopSystem()
    {
        await Host.DisposeAsync();
        await System.DisposeAsync();
    }
}
