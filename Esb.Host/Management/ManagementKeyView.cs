namespace Esb.Host.Management;

/// <summary>An entry of <c>management.keys</c>, without its keys.</summary>
/// <param name="Name">The name; null for the key of the first start.</param>
/// <param name="Role">What its owner may do.</param>
/// <param name="Keys">The number of keys that open it: more than one while one replaces another.</param>
/// <param name="Expires">From when it opens nothing; null for never.</param>
/// <param name="IsExpired">True if it opens nothing any more.</param>
internal sealed record ManagementKeyView(string? Name, ManagementRole Role, int Keys, DateTimeOffset? Expires, bool IsExpired);
