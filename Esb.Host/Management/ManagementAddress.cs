using System.Globalization;
using System.Net;
using Esb.Core.Configuration;

namespace Esb.Host.Management;

/// <summary>Where the management API listens.</summary>
/// <param name="Address">An address of this machine; <see cref="IPAddress.Any"/> for all of them.</param>
/// <param name="Port">From 0, which means any free port, to 65535.</param>
internal sealed record ManagementAddress(IPAddress Address, int Port)
{
    private const string Expected = "expected http://ADDRESS:PORT with an IP address or localhost, such as \"http://127.0.0.1:8081\"";

    /// <summary>Reads a url; null after an error was added.</summary>
    public static ManagementAddress? Parse(string url, ConfigErrors errors, ConfigOrigin origin)
    {
        // The port is looked at before Uri is: that one refuses 70000 without saying why.
        var written = url[(url.LastIndexOf(':') + 1)..].TrimEnd('/');
        if (int.TryParse(written, NumberStyles.None, CultureInfo.InvariantCulture, out var port) && port is < 1 or > 65535)
        {
            errors.Add(new ConfigError("ESB-CFG-PORT", "management.url", $"\"{url}\"", "expected a port from 1 to 65535", origin));
            return null;
        }

        if (Uri.TryCreate(url, UriKind.Absolute, out var uri) && uri is { Scheme: "http", PathAndQuery: "/", UserInfo: "" } && AddressOf(uri) is { } address)
            return new ManagementAddress(address, uri.Port);
        errors.Add(new ConfigError("ESB-CFG-URL", "management.url", $"\"{url}\"", Expected, origin));
        return null;
    }

    private static IPAddress? AddressOf(Uri uri)
    {
        if (uri.Host == "localhost") return IPAddress.Loopback;
        return IPAddress.TryParse(uri.Host.Trim('[', ']'), out var address) ? address : null;
    }
}
