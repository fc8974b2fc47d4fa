namespace Esb.Core.Audit;

/// <summary>Erases bodies from the audit on request. Thread-safe.</summary>
public interface IAuditEraser
{
    /// <summary>True if the bodies of a message were erased already: none is stored, and earlier facts that arrive late are erased on
    /// arrival.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-READONLY</c>: this store cannot delete single bodies. Otherwise, the store cannot
    /// be read.</exception>
    Task<bool> IsErasedAsync(Guid messageId, CancellationToken cancellationToken);

    /// <summary>
    /// Erases every recorded body of a message. Bodies of events before the erasure that arrive late are erased on arrival, for as long as
    /// the erasure is kept. Later events are recorded normally.
    /// The facts and the digests of their bodies are kept, so that their chains remain valid. Repeating the call has no effect.
    /// </summary>
    /// <remarks>A fact of the kind <see cref="AuditKind.Erased"/> must be written to the store first: without it, a missing body counts as
    /// tampering.</remarks>
    /// <returns>Number of bodies erased.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-READONLY</c>: this store cannot delete single bodies. Otherwise, the store cannot
    /// be written, or is too busy: a retry is safe.</exception>
    Task<long> EraseBodiesAsync(Guid messageId, CancellationToken cancellationToken);
}
