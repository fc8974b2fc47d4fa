using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Storage.Files.Claims;

/// <summary>Keeps bodies in a folder, and finds also those that were kept in another place before.</summary>
/// <param name="folder">The folder.</param>
/// <param name="before">The other place.</param>
internal sealed class MovedClaimChecks(FolderClaimCheckStore folder, IClaimCheckStore before) : IClaimCheckStore
{
    public bool IsAvailable => true;

    public bool TakesStreams => folder.TakesStreams;

    public Task<ClaimTicket> PutAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken) =>
        folder.PutAsync(body, cancellationToken);

    public Task<ClaimTicket> PutAsync(MessageBody body, CancellationToken cancellationToken) => folder.PutAsync(body, cancellationToken);

    public async Task<MessageBody?> FindAsync(ClaimTicket ticket, CancellationToken cancellationToken) =>
        await before.FindAsync(ticket, cancellationToken) ?? await folder.FindAsync(ticket, cancellationToken);
}
