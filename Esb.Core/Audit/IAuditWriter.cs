namespace Esb.Core.Audit;

/// <summary>Keeps audit facts. Thread-safe.</summary>
public interface IAuditWriter
{
    /// <summary>Where facts can wait on this machine while the store is away; null where the store is on this machine itself.</summary>
    IAuditSpool? Spool => null;

    /// <summary>What keeps <see cref="AppendAsync"/> from keeping facts now, in a few words and without secrets; null when nothing does.</summary>
    ValueTask<string?> CheckAsync(CancellationToken cancellationToken) => ValueTask.FromResult<string?>(null);

    /// <summary>Keeps facts, all or none; durable when it returns. A fact that is there already is kept once.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-WRITE</c>: they could not be kept. Where it is not transient the store refuses one of them, now and later.</exception>
    Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken);
}
