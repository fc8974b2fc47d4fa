using Esb.Core.Audit;

namespace Esb.Audit.Services;

/// <summary>A step's way to the audit service, used by one message at a time.</summary>
internal sealed class AuditProxy(AuditServices services)
{
    public async ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken)
    {
        using var service = await services.OpenAsync(cancellationToken);
        await service.RecordAsync(fact, cancellationToken);
    }
}
