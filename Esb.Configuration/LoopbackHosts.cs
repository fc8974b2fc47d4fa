using System.Net;

namespace Esb.Configuration;

/// <summary>Distinguishes servers on this machine from others by their configured host; no name is resolved.</summary>
public static class LoopbackHosts
{
    /// <summary>True if a host is this machine: by name, by address, or by the folder of a socket. A trailing port is ignored.</summary>
    public static bool Is(string host) =>
        host.StartsWith('/')
        || host.StartsWith('@')
        || WithoutPort(host) is var name
            && (
                string.Equals(name, "localhost", StringComparison.OrdinalIgnoreCase)
                || (IPAddress.TryParse(name, out var address) && IPAddress.IsLoopback(address))
            );

    /// <summary>True if all of the comma-separated hosts are this machine.</summary>
    public static bool AreAll(string hosts) => hosts.Split(',', StringSplitOptions.TrimEntries).All(Is);

    private static string WithoutPort(string host) => host.Count(c => c == ':') == 1 ? host[..host.IndexOf(':')] : host;
}
