using Esb.Audit.Recording;
using Esb.Audit.Spooling;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Audit;

/// <summary>Takes every audit fact: to the spool where there is one, so that a store that is away or slow holds nothing up; to the store where the mode is strict.</summary>
/// <param name="config">The mode, where no endpoint or topic has its own.</param>
/// <param name="store">Where facts are kept.</param>
/// <param name="refused">Keeps what the store refuses for good.</param>
/// <param name="recorder">Completes facts; null to record them as they come.</param>
internal sealed class AuditTrail(Live<AuditConfig> config, IAuditWriter store, RefusedFacts refused, Live<AuditRecorder>? recorder = null) : IAuditTrail, IHealthCheck
{
    private readonly IAuditSpool? _spool = store.Spool;

    public string Name => "audit";

    public IMessageMask Mask => recorder?.Current.Mask ?? NoMask.Instance;

    // In the mode spooled the store may be away: what is accepted now is recorded all the same.
    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken) =>
        _spool is null || config.Current.Mode == AuditMode.Strict ? store.CheckAsync(cancellationToken) : ValueTask.FromResult<string?>(null);

    public AuditBodies Wants(AuditKind kind, string endpoint) => recorder?.Current.Wants(kind, endpoint) ?? AuditBodies.None;

    public bool WantsSteps(string endpoint) => recorder?.Current.WantsSteps(endpoint) ?? false;

    public ValueTask RecordAsync(AuditFact fact, EsbMessage content, CancellationToken cancellationToken) =>
        RecordAsync(recorder?.Current.Describe(fact, content) ?? fact, cancellationToken);

    public async ValueTask RecordAsync(AuditFact fact, CancellationToken cancellationToken)
    {
        var current = recorder?.Current;
        var complete = current?.Complete(fact) ?? fact;
        var mode = current?.ModeOf(fact) ?? config.Current.Mode;
        if (_spool is null || mode == AuditMode.Strict)
        {
            await StoreAsync(complete, cancellationToken);
            return;
        }

        await _spool.AppendAsync(complete, cancellationToken);
        AuditTelemetry.QueueLength.Add(1);
    }

    private async ValueTask StoreAsync(AuditFact fact, CancellationToken cancellationToken)
    {
        try
        {
            await store.AppendAsync([fact], cancellationToken);
        }
        catch (EsbException ex) when (!ex.IsTransient && IsDone(fact.Kind) && _spool is not null)
        {
            // No repetition makes the store take it; all that would be repeated is what the fact is about.
            await refused.KeepAsync(_spool, fact, ex, cancellationToken);
        }
    }

    // What has not been done yet can still be refused to whoever wants it.
    private static bool IsDone(AuditKind kind) => kind is not (AuditKind.Received or AuditKind.Recorded);
}
