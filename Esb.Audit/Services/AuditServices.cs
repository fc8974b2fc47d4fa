using Esb.Core.Audit;
using Esb.Core.Pooling;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Services;

/// <summary>Makes an audit service for each call, up to a maximum at work at once; further calls wait in turn. Thread-safe.</summary>
internal sealed class AuditServices(AuditConfig config, IAuditTrail trail, TimeProvider time, ILogger<AuditServices> logger)
{
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(60);

    private readonly InstancePool<Place> _places =
        new("the audit service", () => new Place(), new PoolLimits(config.MaxConcurrentInstances, LongestWait), time, logger);

    /// <exception cref="Core.Errors.PoolTimeoutException">The maximum stayed at work for too long.</exception>
    public async ValueTask<AuditService> OpenAsync(CancellationToken cancellationToken) => new(trail, await _places.RentAsync(cancellationToken));

    /// <summary>One of the calls that may be at work at once.</summary>
    internal sealed class Place;
}
