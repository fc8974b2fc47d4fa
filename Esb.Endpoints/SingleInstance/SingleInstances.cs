using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.SingleInstance;

/// <summary>Makes the endpoints of this host that share a lease with those of other hosts.</summary>
internal sealed class SingleInstances(ILeaseStore leases, TimeProvider time, ILogger<LeaseHolder> logger)
{
    private readonly string _host = $"{Environment.MachineName}/{Environment.ProcessId}/{Guid.NewGuid():N}";

    public SingleInstanceEndpoint Create(string endpoint, IMessageIntake intake, Func<IMessageIntake, IInboundEndpoint> create) =>
        new(endpoint, _host, intake, create, leases, time, logger);
}
