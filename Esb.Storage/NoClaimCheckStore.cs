using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage;

/// <summary>There is no place that all hosts share: bodies travel whole, and what came with a ticket was not kept here.</summary>
internal sealed class NoClaimCheckStore : IClaimCheckStore
{
    public bool IsAvailable => false;

    public Task<ClaimTicket> PutAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken) =>
        throw new InvalidOperationException("There is no place for bodies.");

    public Task<MessageBody?> FindAsync(ClaimTicket ticket, CancellationToken cancellationToken) => Task.FromResult<MessageBody?>(null);
}
