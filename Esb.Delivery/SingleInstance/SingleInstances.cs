using Esb.Configuration;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.SingleInstance;

/// <summary>Creates the lease holders of single-instance endpoints. Thread-safe.</summary>
/// <param name="areShared">True if other hosts can receive the same messages; otherwise this host is always the only instance.</param>
/// <param name="leases">The lease store.</param>
/// <param name="time">The clock of this host.</param>
/// <param name="logger">Logs take-over and loss.</param>
internal sealed class SingleInstances(bool areShared, ILeaseStore leases, TimeProvider time, ILogger<LeaseHolder> logger)
{
    private readonly string _host = $"{Environment.MachineName}/{Environment.ProcessId}/{Guid.NewGuid():N}";

    public bool AreShared => areShared;

    public static SingleInstances Of(IServiceProvider services) =>
        new(
            services.GetRequiredService<TransportConfig>().SpansHosts,
            services.GetRequiredService<ILeaseStore>(),
            services.GetRequiredService<TimeProvider>(),
            services.GetRequiredService<ILogger<LeaseHolder>>()
        );

    /// <summary>Creates the lease holder of an endpoint, not yet started.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="work">Runs while the lease is held, and ends soon after its token is cancelled.</param>
    public LeaseHolder Hold(string endpoint, Func<HeldLease, CancellationToken, Task> work) =>
        new($"endpoint {endpoint}", _host, leases, work, time, logger);
}
