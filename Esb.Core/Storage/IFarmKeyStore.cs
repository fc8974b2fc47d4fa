namespace Esb.Core.Storage;

/// <summary>The key of a farm whose hosts share a store. Thread-safe.</summary>
public interface IFarmKeyStore
{
    /// <summary>Returns the key; the first host of all makes it. Null if hosts do not share the store.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-AWAY</c>: the store cannot be reached.</exception>
    Task<byte[]?> FindOrMakeAsync(CancellationToken cancellationToken);
}
