using Esb.Core.Messages;

namespace Esb.Core.Storage;

/// <summary>Stores the bodies of messages that travel as a reference (pattern: Claim Check). Shared by all hosts that share topics.
/// Thread-safe.</summary>
public interface IClaimCheckStore
{
    /// <summary>True if bodies can be stored; otherwise they travel whole.</summary>
    bool IsAvailable { get; }

    /// <summary>Stores a body; durable when it returns, for <see cref="StoreConfig.ClaimRetention"/> at least.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task<ClaimTicket> PutAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken);

    /// <summary>The body; null if the ticket has expired, or never existed.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable.</exception>
    Task<MessageBody?> FindAsync(ClaimTicket ticket, CancellationToken cancellationToken);
}
