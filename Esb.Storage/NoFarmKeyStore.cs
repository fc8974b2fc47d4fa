using Esb.Core.Storage;

namespace Esb.Storage;

/// <summary>A store of one host has no key to share.</summary>
internal sealed class NoFarmKeyStore : IFarmKeyStore
{
    public Task<byte[]?> FindOrMakeAsync(CancellationToken cancellationToken) => Task.FromResult<byte[]?>(null);
}
