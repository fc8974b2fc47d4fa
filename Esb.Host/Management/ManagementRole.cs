namespace Esb.Host.Management;

/// <summary>What the owner of a key may do; each role may do all that those before it may.</summary>
internal enum ManagementRole
{
    /// <summary>Sees states, figures and lists, but no bodies.</summary>
    Viewer,

    /// <summary>Sees bodies as they are recorded, tunes endpoints, replays, releases, discards, publishes tests, changes log
    /// levels.</summary>
    Operator,

    /// <summary>Also changes the configuration, erases, and sees bodies of dead letters as they came.</summary>
    Administrator,
}

/// <summary>The owner of a key.</summary>
/// <param name="Name">The name of the key; null for the key of the first start, which any operator may have.</param>
/// <param name="Role">What the owner may do.</param>
internal sealed record ManagementUser(string? Name, ManagementRole Role);
