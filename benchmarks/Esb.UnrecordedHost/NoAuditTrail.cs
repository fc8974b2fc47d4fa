using Esb.Core.Audit;

namespace Esb.UnrecordedHost;

/// <summary>Keeps nothing.</summary>
internal sealed class NoAuditTrail : IAuditTrail
{
    public ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken) => ValueTask.CompletedTask;
}
