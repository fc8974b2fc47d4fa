using Esb.IntegrationTests.Faults.Benches;

namespace Esb.IntegrationTests.Faults;

/// <summary>Stops the servers of the fault tests once all of these have run.</summary>
[SetUpFixture]
public sealed class StopServersAfterwards
{
    [OneTimeTearDown]
    public Task StopAsync() => FaultServers.StopAsync();
}
