using System.Globalization;
using System.Net;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Core.Listening;

/// <summary>Local address on which a part of the bus listens.</summary>
/// <param name="Address">An address of this machine; <see cref="IPAddress.Any"/> or <see cref="IPAddress.IPv6Any"/> for all of
/// them.</param>
/// <param name="Port">1..65535.</param>
public sealed record ListeningAddress(IPAddress Address, int Port)
{
    private const string Expected =
        "expected http://ADDRESS:PORT or https://ADDRESS:PORT with an IP address or localhost, such as \"http://127.0.0.1:8080\"";

    /// <summary>True if it uses TLS.</summary>
    public bool IsTls { get; init; }

    /// <summary>True if only this machine can reach it.</summary>
    public bool IsLoopback => IPAddress.IsLoopback(Address);

    private bool IsEverywhere => Address.Equals(IPAddress.Any) || Address.Equals(IPAddress.IPv6Any);

    /// <summary>Parses the url of settings; null after an error, <c>ESB-CFG-PORT</c> or <c>ESB-CFG-URL</c>, was added.</summary>
    public static ListeningAddress? Parse(string url, SettingsRecord settings, string property, ConfigErrors errors)
    {
        if (IsHttp(url) && PortOf(url) is < 1 or > 65535)
        {
            errors.Add("ESB-CFG-PORT", settings, property, "expected a port from 1 to 65535");
            return null;
        }

        if (
            Uri.TryCreate(url, UriKind.Absolute, out var uri)
            && uri is { Scheme: "http" or "https", PathAndQuery: "/", UserInfo: "" }
            && AddressOf(uri) is { } address
        )
            return new ListeningAddress(address, uri.Port) { IsTls = uri.Scheme == "https" };
        errors.Add("ESB-CFG-URL", settings, property, Expected);
        return null;
    }

    /// <summary>True if the two addresses cannot be listened on at the same time.</summary>
    public bool Excludes(ListeningAddress other) =>
        Port == other.Port && (Address.Equals(other.Address) || IsEverywhere || other.IsEverywhere);

    private static bool IsHttp(string url) =>
        url.StartsWith("http://", StringComparison.OrdinalIgnoreCase) || url.StartsWith("https://", StringComparison.OrdinalIgnoreCase);

    // Parsed by hand: Uri rejects 70000 without a reason. Without a port, the scheme's default; -1 if not a number.
    private static int PortOf(string url)
    {
        var authority = url[(url.IndexOf("://", StringComparison.Ordinal) + 3)..].Split('/')[0];
        var colon = authority.LastIndexOf(':');
        if (colon < 0 || authority.EndsWith(']'))
            return url.StartsWith("https", StringComparison.OrdinalIgnoreCase) ? 443 : 80;
        return int.TryParse(authority.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out var port) ? port : -1;
    }

    private static IPAddress? AddressOf(Uri uri)
    {
        if (uri.Host == "localhost")
            return IPAddress.Loopback;
        return IPAddress.TryParse(uri.Host.Trim('[', ']'), out var address) ? address : null;
    }
}
