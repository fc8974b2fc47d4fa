using Esb.Core;
using Esb.Core.Audit;

namespace Esb.Audit;

/// <summary>Takes every audit fact: to the spool where there is one, so that a store that is away or slow holds nothing up; to the store where the mode is strict.</summary>
internal sealed class AuditTrail(AuditConfig config, IAuditStore store) : IAuditTrail, IHealthCheck
{
    private readonly IAuditSpool? _spool = config.Mode == AuditMode.Strict ? null : store.Spool;

    public string Name => "audit";

    // In the mode spooled the store may be away: what is accepted now is recorded all the same.
    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken) =>
        _spool is null ? store.CheckAsync(cancellationToken) : ValueTask.FromResult<string?>(null);

    public async ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken)
    {
        if (_spool is null)
        {
            await store.AppendAsync([fact], cancellationToken);
            return;
        }

        await _spool.AppendAsync(fact, cancellationToken);
        AuditTelemetry.QueueLength.Add(1);
    }
}
