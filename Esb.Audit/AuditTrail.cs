using Esb.Audit.Recording;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.Audit;

/// <summary>Takes every audit fact: to the spool where there is one, so that a store that is away or slow holds nothing up; to the store where the mode is strict.</summary>
internal sealed class AuditTrail(AuditConfig config, IAuditStore store, AuditRecorder recorder) : IAuditTrail, IHealthCheck
{
    private readonly IAuditSpool? _spool = store.Spool;

    public string Name => "audit";

    // In the mode spooled the store may be away: what is accepted now is recorded all the same.
    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken) =>
        _spool is null || config.Mode == AuditMode.Strict ? store.CheckAsync(cancellationToken) : ValueTask.FromResult<string?>(null);

    public IMessageMask Mask => recorder.Mask;

    public AuditBodies Wants(AuditKind kind, string endpoint) => recorder.Wants(kind, endpoint);

    public ValueTask RecordAsync(AuditFact fact, EsbMessage content, CancellationToken cancellationToken) => RecordAsync(recorder.Describe(fact, content), cancellationToken);

    public async ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken)
    {
        var complete = recorder.Complete(fact);
        if (_spool is null || recorder.ModeOf(complete) == AuditMode.Strict)
        {
            await store.AppendAsync([complete], cancellationToken);
            return;
        }

        await _spool.AppendAsync(complete, cancellationToken);
        AuditTelemetry.QueueLength.Add(1);
    }
}
