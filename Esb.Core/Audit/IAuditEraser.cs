namespace Esb.Core.Audit;

/// <summary>Erases bodies out of the audit on request. Thread-safe.</summary>
public interface IAuditEraser
{
    /// <summary>How many recorded bodies a message has.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be read.</exception>
    Task<long> CountBodiesAsync(Guid messageId, CancellationToken cancellationToken);

    /// <summary>Erases every recorded body of a message. Its facts stay, with the digests of their bodies, so that their chains still hold. Doing it again does nothing.</summary>
    /// <remarks>A fact of the kind <see cref="AuditKind.Erased"/> comes first: without it a body that is gone counts as removed by force.</remarks>
    /// <returns>How many bodies.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-READONLY</c>: this store does not let go of single bodies. The store cannot be written.</exception>
    Task<long> EraseBodiesAsync(Guid messageId, CancellationToken cancellationToken);
}
