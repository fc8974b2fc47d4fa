namespace Esb.Core.Audit;

/// <summary>Erases bodies out of the audit on request. Thread-safe.</summary>
public interface IAuditEraser
{
    /// <summary>Whether the bodies of a message were erased already: none is there, and what happened before and arrives later is erased as it comes.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-READONLY</c>: this store does not let go of single bodies. The store cannot be read.</exception>
    Task<bool> IsErasedAsync(Guid messageId, CancellationToken cancellationToken);

    /// <summary>
    /// Erases every recorded body of a message, and those of what happened before that fact and arrives later, as they come, for as long as it is kept. What happens after it is recorded anew.
    /// The message's facts stay, with the digests of their bodies, so that their chains still hold. Doing it again does nothing.
    /// </summary>
    /// <remarks>A fact of the kind <see cref="AuditKind.Erased"/> has to come first, into the store itself: without it a body that is gone counts as removed by force.</remarks>
    /// <returns>How many bodies were there.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-READONLY</c>: this store does not let go of single bodies. The store cannot be written, or is too busy: asking again is safe.</exception>
    Task<long> EraseBodiesAsync(Guid messageId, CancellationToken cancellationToken);
}
