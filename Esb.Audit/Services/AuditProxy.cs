using Esb.Core.Audit;

namespace Esb.Audit.Services;

/// <summary>A step's way to the audit service, used by one message at a time.</summary>
internal sealed class AuditProxy(AuditServices services)
{
    /// <param name="fact">What is recorded.</param>
    /// <param name="timeout">How long it waits for its turn at the service; the recording itself takes what it takes.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <exception cref="Core.Errors.PoolTimeoutException">Its turn did not come in time.</exception>
    public async ValueTask RecordAsync(AuditFact fact, TimeSpan timeout, CancellationToken cancellationToken)
    {
        using var service = await services.OpenAsync(timeout, cancellationToken);
        await service.RecordAsync(fact, cancellationToken);
    }
}
