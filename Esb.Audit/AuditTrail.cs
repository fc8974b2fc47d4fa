using System.Runtime.CompilerServices;
using Esb.Audit.Recording;
using Esb.Audit.Spooling;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Audit;

/// <summary>Accepts every audit fact: in mode spooled it goes to the spool, so that a slow or unavailable store delays nothing; in mode
/// strict to the store.</summary>
/// <param name="config">The mode, unless an endpoint or topic has its own.</param>
/// <param name="store">The audit store.</param>
/// <param name="refused">Keeps facts that the store refuses permanently.</param>
/// <param name="recorder">Completes facts; null to record them unchanged.</param>
internal sealed class AuditTrail(Live<AuditConfig> config, IAuditWriter store, RefusedFacts refused, Live<AuditRecorder>? recorder = null)
    : IAuditTrail,
        IHealthCheck
{
    private readonly IAuditSpool? _spool = store.Spool;

    public string Name => "audit";

    public IMessageMask Mask => recorder?.Current.Mask ?? NoMask.Instance;

    public string? Revision => recorder?.Current.Revision;

    // In mode spooled the store may be unavailable: accepted facts are recorded all the same.
    public ValueTask<string?> CheckAsync(CancellationToken cancellationToken) =>
        _spool is null || config.Current.Mode == AuditMode.Strict
            ? store.CheckAsync(cancellationToken)
            : ValueTask.FromResult<string?>(null);

    public AuditBodies Wants(AuditKind kind, string endpoint) => recorder?.Current.Wants(kind, endpoint) ?? AuditBodies.None;

    public IReadOnlyDictionary<string, string> FieldsOf(EsbMessage message, string endpoint) =>
        recorder?.Current.FieldsOf(message, endpoint) ?? [];

    public bool WantsSteps(string endpoint) => recorder?.Current.WantsSteps(endpoint) ?? false;

    public bool RecordsFirst(string endpoint) =>
        recorder?.Current.RecordsFirst(endpoint) ?? (config.Current is { Mode: AuditMode.Strict } or { Flush: AuditFlush.Always });

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

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask RecordAsync(IReadOnlyList<AuditRecord> records, AuditDurability durability, CancellationToken cancellationToken)
    {
        var current = recorder?.Current;
        var facts = new AuditFact[records.Count];
        var isStrict = current is null && config.Current.Mode == AuditMode.Strict;
        for (var i = 0; i < facts.Length; i++)
        {
            var (fact, content) = records[i];
            if (content is not null && current is not null)
                fact = current.Describe(fact, content);
            facts[i] = current?.Complete(fact) ?? fact;
            if (current?.PolicyOf(fact) is not { RecordsFirst: true } policy)
                continue;
            isStrict |= policy.Mode == AuditMode.Strict;
            durability = AuditDurability.Flushed;
        }

        if (isStrict)
            await StoreAsync(facts, cancellationToken);
        else if (_spool is null)
            await store.AppendAsync(facts, durability, cancellationToken);
        else
        {
            await _spool.AppendAsync(facts, durability, cancellationToken);
            AuditTelemetry.QueueLength.Add(facts.Length);
        }
    }

    // Fact by fact: each that the store refuses has its own consequence.
    private async ValueTask StoreAsync(AuditFact[] facts, CancellationToken cancellationToken)
    {
        foreach (var fact in facts)
            await StoreAsync(fact, cancellationToken);
    }

    private async ValueTask StoreAsync(AuditFact fact, CancellationToken cancellationToken)
    {
        try
        {
            await store.AppendAsync([fact], cancellationToken);
        }
        catch (EsbException ex) when (!ex.IsTransient && IsDone(fact.Kind) && _spool is not null)
        {
            // A retry would not make the store accept the fact; it would only repeat the action that the fact describes.
            await refused.KeepAsync(_spool, fact, ex, cancellationToken);
        }
    }

    // These facts precede the action, which can still be refused to the caller.
    private static bool IsDone(AuditKind kind) => kind is not (AuditKind.Received or AuditKind.Recorded);
}
