namespace Esb.IntegrationTests.Faults.Benches;

/// <summary>The broker and the database that the fault tests stop and kill: one pair for all of them, started by the first that needs
/// it.</summary>
internal static class FaultServers
{
    private static readonly Lazy<Task<PrivateServers>> Started = new(PrivateServers.StartAsync);

    public static Task<PrivateServers> GetAsync() => Started.Value;

    public static async Task StopAsync()
    {
        if (Started.IsValueCreated)
            await (await Started.Value).DisposeAsync();
    }
}
