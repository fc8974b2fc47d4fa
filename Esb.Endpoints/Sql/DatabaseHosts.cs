using System.Net;

namespace Esb.Endpoints.Sql;

/// <summary>Tells databases on this machine from others.</summary>
internal static class DatabaseHosts
{
    /// <summary>Whether all of the comma-separated hosts are this machine: by name, by address, or by the folder of a socket.</summary>
    public static bool AreLoopback(string hosts) => hosts.Split(',', StringSplitOptions.TrimEntries).All(IsLoopback);

    private static bool IsLoopback(string host) =>
        host.StartsWith('/') || host.StartsWith('@')
        || WithoutPort(host) is var name && (string.Equals(name, "localhost", StringComparison.OrdinalIgnoreCase) || (IPAddress.TryParse(name, out var address) && IPAddress.IsLoopback(address)));

    private static string WithoutPort(string host) => host.Count(c => c == ':') == 1 ? host[..host.IndexOf(':')] : host;
}
