namespace Esb.Core.Audit;

/// <summary>Erases bodies out of the audit on request. Thread-safe.</summary>
public interface IAuditEraser
{
    /// <summary>Whether the bodies of a message were erased already: none is there, and what arrives of it later is erased as it comes.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-READONLY</c>: this store does not let go of single bodies. The store cannot be read.</exception>
    Task<bool> IsErasedAsync(Guid messageId, CancellationToken cancellationToken);

    /// <summary>
    /// Erases every recorded body of a message, and those that arrive later, as they come, for as long as the fact that tells of it is kept.
    /// Its facts stay, with the digests of their bodies, so that their chains still hold. Doing it again does nothing.
    /// </summary>
    /// <remarks>A fact of the kind <see cref="AuditKind.Erased"/> has to come first, into the store itself: without it a body that is gone counts as removed by force.</remarks>
    /// <returns>How many bodies were there.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-READONLY</c>: this store does not let go of single bodies. The store cannot be written, or is too busy: asking again is safe.</exception>
    Task<long> EraseBodiesAsync(Guid messageId, CancellationToken cancellationToken);
}
