namespace Esb.IntegrationTests.Adapters;

/// <summary>A started system with a host beside it.</summary>
/// <typeparam name="TSystem">The adapter and its system.</typeparam>
internal abstract class AdapterFixture<TSystem>
    where TSystem : AdapterSystem, new()
{
    private protected TSystem System { get; private set; } = null!;

    private protected AdapterHost Host { get; private set; } = null!;

    [SetUp]
    public async Task StartSystem()
    {
        System = new TSystem();
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
