using System.Net;

namespace Esb.Host.Management;

/// <summary>Recognises the names of this host in the header <c>Host</c>. A page of another site whose name leads here by DNS (DNS
/// rebinding) is refused: the browser would count it as the console itself.</summary>
internal static class HostNames
{
    /// <summary>True for an address, a name without dots, the name of this machine, that of <c>management.url</c>, and those of
    /// <c>management.hosts</c>.</summary>
    public static bool IsOurs(string host, ManagementConfig management)
    {
        var name = host.Trim('[', ']');
        if (IPAddress.TryParse(name, out _) || !name.Contains('.', StringComparison.Ordinal))
            return true;
        return Known(management).Contains(name.TrimEnd('.'), StringComparer.OrdinalIgnoreCase);
    }

    private static IEnumerable<string> Known(ManagementConfig management)
    {
        var configured = Uri.TryCreate(management.Url, UriKind.Absolute, out var url) ? [url.Host] : Array.Empty<string>();
        return [.. management.Hosts, .. configured, Environment.MachineName, Dns.GetHostName()];
    }
}
