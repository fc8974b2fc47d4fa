using Esb.Core.Audit;
using Esb.Core.Pooling;

namespace Esb.Audit.Services;

/// <summary>Serves one call: calls share nothing, so none can hold up or spoil another.</summary>
internal sealed class AuditService(IAuditTrail trail, InstanceLease<AuditServices.Place> place) : IDisposable
{
    private InstanceLease<AuditServices.Place> _place = place;

    public ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken) => trail.RecordAsync(fact, cancellationToken);

    public void Dispose() => _place.Dispose();
}
