namespace Esb.Core.Storage;

/// <summary>Grants a name to one owner at a time, for a while (pattern: lease with fencing token). Only the clock of the store counts, never that of a host. Thread-safe.</summary>
public interface ILeaseStore
{
    /// <summary>Takes a name that nobody else holds, or whose lease has run out. An owner that asks again, as it never heard the answer, gets a new lease in place of the lost one.</summary>
    /// <returns>The lease, its token larger than that of every earlier one of the name; null while somebody else holds it.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-AWAY</c>: nobody can tell.</exception>
    Task<Lease?> AcquireAsync(string name, string owner, TimeSpan timeToLive, CancellationToken cancellationToken);

    /// <summary>Holds on to a name, from now on for another while.</summary>
    /// <returns>Whether it still was the owner's.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-AWAY</c>: nobody can tell.</exception>
    Task<bool> RenewAsync(Lease lease, TimeSpan timeToLive, CancellationToken cancellationToken);

    /// <summary>Gives a name back, so that others need not wait for the end of the lease. Does nothing where it is somebody else's by now.</summary>
    /// <exception cref="Errors.EsbException"><c>ESB-STORE-AWAY</c>: the lease runs out by itself.</exception>
    Task ReleaseAsync(Lease lease, CancellationToken cancellationToken);
}

/// <summary>A name that is held.</summary>
/// <param name="Name">What is held.</param>
/// <param name="Owner">Who holds it.</param>
/// <param name="Token">The fencing token: whoever comes later has a larger one.</param>
public sealed record Lease(string Name, string Owner, long Token);
