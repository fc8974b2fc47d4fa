using Esb.Core.Messages;

namespace Esb.Core.Storage;

/// <summary>Keeps the bodies of messages that travel as a reference (pattern: Claim Check). Shared by all hosts that share topics. Thread-safe.</summary>
public interface IClaimCheckStore
{
    /// <summary>Whether there is a place for bodies; otherwise they travel whole.</summary>
    bool IsAvailable { get; }

    /// <summary>Keeps a body; durable when it returns, for <see cref="StoreConfig.ClaimRetention"/> at least.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be reached or written.</exception>
    Task<ClaimTicket> PutAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken);

    /// <summary>The body; null where there is none under this ticket, because its time is over or it never was.</summary>
    /// <exception cref="Errors.EsbException">The store cannot be reached.</exception>
    Task<MessageBody?> FindAsync(ClaimTicket ticket, CancellationToken cancellationToken);
}
