using Esb.Configuration;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.SingleInstance;

/// <summary>Makes the holders of the leases that endpoints of this host share with those of other hosts. Thread-safe.</summary>
/// <param name="areShared">Whether other hosts can receive what this one does; otherwise it is the only one anyway.</param>
/// <param name="leases">Where hosts agree.</param>
/// <param name="time">Of this host.</param>
/// <param name="logger">Hears of taking and losing.</param>
internal sealed class SingleInstances(bool areShared, ILeaseStore leases, TimeProvider time, ILogger<LeaseHolder> logger)
{
    private readonly string _host = $"{Environment.MachineName}/{Environment.ProcessId}/{Guid.NewGuid():N}";

    public bool AreShared => areShared;

    public static SingleInstances Of(IServiceProvider services) => new(
        services.GetRequiredService<TransportConfig>().SpansHosts,
        services.GetRequiredService<ILeaseStore>(),
        services.GetRequiredService<TimeProvider>(),
        services.GetRequiredService<ILogger<LeaseHolder>>());

    /// <summary>A holder of an endpoint's lease, not yet started.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="work">Runs while the lease is held, and ends soon after its token is cancelled.</param>
    public LeaseHolder Hold(string endpoint, Func<HeldLease, CancellationToken, Task> work) => new($"endpoint {endpoint}", _host, leases, work, time, logger);
}
