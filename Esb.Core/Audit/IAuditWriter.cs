namespace Esb.Core.Audit;

/// <summary>Writes audit facts. Thread-safe.</summary>
public interface IAuditWriter
{
    /// <summary>Buffer for facts on this machine while the store is unreachable; null if the store is on this machine.</summary>
    IAuditSpool? Spool => null;

    /// <summary>Reason why <see cref="AppendAsync(IReadOnlyList{AuditFact}, CancellationToken)"/> would fail now, brief and without
    /// secrets; null if none.</summary>
    ValueTask<string?> CheckAsync(CancellationToken cancellationToken) => ValueTask.FromResult<string?>(null);

    /// <summary>Appends facts, all or none; durable when it returns. A fact that already exists is kept once.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-AUD-WRITE</c>: the write failed. If the error is not transient, the store rejects one
    /// of the facts permanently.</exception>
    Task AppendAsync(IReadOnlyList<AuditFact> facts, CancellationToken cancellationToken);

    /// <inheritdoc cref="AppendAsync(IReadOnlyList{AuditFact}, CancellationToken)"/>
    /// <param name="facts">The facts.</param>
    /// <param name="durability">Weakest state in which the call may return; a store may always flush.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    Task AppendAsync(IReadOnlyList<AuditFact> facts, AuditDurability durability, CancellationToken cancellationToken) =>
        AppendAsync(facts, cancellationToken);
}
