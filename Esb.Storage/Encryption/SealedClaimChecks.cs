using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Encryption;

/// <summary>Claim checks whose bodies are encrypted; their tickets carry the digest of the encrypted body.</summary>
internal sealed class SealedClaimChecks(IClaimCheckStore inner, IBodyCipher cipher) : IClaimCheckStore
{
    public bool IsAvailable => inner.IsAvailable;

    // The ticket's id is made while the body is stored, so the digest in the ticket is what binds the two.
    public Task<ClaimTicket> PutAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken) =>
        inner.PutAsync(cipher.Seal(body, Guid.Empty), cancellationToken);

    public bool TakesStreams => inner.TakesStreams && !cipher.IsOn;

    public Task<ClaimTicket> PutAsync(MessageBody body, CancellationToken cancellationToken) =>
        TakesStreams ? inner.PutAsync(body, cancellationToken) : throw new NotSupportedException();

    public async Task<MessageBody?> FindAsync(ClaimTicket ticket, CancellationToken cancellationToken)
    {
        if (await inner.FindAsync(ticket, cancellationToken) is not { } found)
            return null;
        return found.IsBuffered ? MessageBody.FromBytes(cipher.Open(found.Bytes, Guid.Empty)) : found;
    }
}
