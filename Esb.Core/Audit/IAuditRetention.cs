namespace Esb.Core.Audit;

/// <summary>Deletes old audit facts. Thread-safe.</summary>
public interface IAuditRetention
{
    /// <summary>Deletes facts older than the given time, in the units of the store (days, segments): some may be kept longer, none is
    /// deleted earlier.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task RemoveBeforeAsync(DateTimeOffset time, CancellationToken cancellationToken);
}
