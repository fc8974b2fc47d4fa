using Esb.Configuration.Revisions;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Pooling;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Services;

/// <summary>Makes an audit service for each call, up to a maximum at work at once; further calls wait in turn. Thread-safe.</summary>
internal sealed class AuditServices(Live<AuditConfig> config, IAuditTrail trail, TimeProvider time, ILogger<AuditServices> logger)
    : IRevisionPart
{
    private readonly InstancePool<Place> _places = new(
        "the audit service",
        () => new Place(),
        new PoolLimits(config.Current.MaxConcurrentInstances, Timeout.InfiniteTimeSpan),
        time,
        logger
    ); // each step has a time-out of its own

    /// <summary>How many calls are at work, and how many wait.</summary>
    public PoolStatus Status => _places.Status;

    public Task ExchangeAsync(Revision next, Leftovers old, CancellationToken cancellationToken)
    {
        _places.Resize(config.Current.MaxConcurrentInstances);
        return Task.CompletedTask;
    }

    /// <param name="timeout">How long the caller waits for its turn.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <exception cref="Core.Errors.PoolTimeoutException">The maximum stayed at work for longer.</exception>
    public async ValueTask<AuditService> OpenAsync(TimeSpan timeout, CancellationToken cancellationToken) =>
        new(trail, await _places.RentAsync(timeout, cancellationToken));

    /// <summary>One of the calls that may be at work at once.</summary>
    internal sealed class Place;
}
