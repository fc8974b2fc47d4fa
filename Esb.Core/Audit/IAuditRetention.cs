namespace Esb.Core.Audit;

/// <summary>Lets go of old audit facts. Thread-safe.</summary>
public interface IAuditRetention
{
    /// <summary>Removes facts older than this, in the units that the store keeps them in (days, segments): some may stay longer, none goes earlier.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be reached or written.</exception>
    Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken);
}
