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

    /// <summary>True if bodies of any size can be stored as they are read.</summary>
    bool TakesStreams => false;

    /// <summary>Stores a body that is not in memory, as it is read; durable when it returns. A streaming body is consumed.</summary>
    /// <exception cref="Errors.EsbException">The body cannot be read; or the store is unreachable or cannot be written.</exception>
    /// <exception cref="NotSupportedException">The store takes no streams (<see cref="TakesStreams"/>).</exception>
    Task<ClaimTicket> PutAsync(MessageBody body, CancellationToken cancellationToken) => throw new NotSupportedException();

    /// <summary>The body, in memory or as a source; null if the ticket has expired, or never existed.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable.</exception>
    Task<MessageBody?> FindAsync(ClaimTicket ticket, CancellationToken cancellationToken);
}
