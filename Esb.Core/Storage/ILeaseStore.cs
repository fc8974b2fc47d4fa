namespace Esb.Core.Storage;

/// <summary>Grants a name to one owner at a time, for a limited time (pattern: lease with fencing token). Only the store's clock counts,
/// never a host's. Thread-safe.</summary>
public interface ILeaseStore
{
    /// <summary>Acquires a name that no other owner holds, or whose lease has expired. An owner that asks again after a lost answer gets a
    /// new lease in place of the lost one.</summary>
    /// <returns>The lease, with a larger token than every earlier lease of the name; null while another owner holds it.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-AWAY</c>: the outcome is unknown.</exception>
    Task<Lease?> AcquireAsync(string name, string owner, TimeSpan timeToLive, CancellationToken cancellationToken);

    /// <summary>Renews a lease for the given time from now.</summary>
    /// <returns>True if the owner still held it.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-AWAY</c>: the outcome is unknown.</exception>
    Task<bool> RenewAsync(Lease lease, TimeSpan timeToLive, CancellationToken cancellationToken);

    /// <summary>Releases a name, so that others need not wait for the lease to expire. Does nothing if another owner holds it by
    /// now.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-AWAY</c>: the lease expires by itself.</exception>
    Task ReleaseAsync(Lease lease, CancellationToken cancellationToken);
}

/// <summary>A lease on a name.</summary>
/// <param name="Name">The name.</param>
/// <param name="Owner">The owner.</param>
/// <param name="Token">The fencing token; later owners have larger tokens.</param>
public sealed record Lease(string Name, string Owner, long Token);
